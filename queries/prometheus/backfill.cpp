#include "queries/prometheus/backfill.h"

#include <algorithm>

#include "queries/prometheus/ranges.h"
#include "queries/prometheus/read_request.h"
#include "queries/prometheus/remote_read.h"
#include "queries/prometheus/vm_export.h"

namespace outcomed {
namespace {

constexpr Duration kFirstPiece = std::chrono::hours(1);
// An instant query finds a series by a sample of the last five minutes.
constexpr Duration kStaleAfter = 5min;

// The server answered that it can't do this; asking again would get the same answer.
bool is_refusal(const Error& error) {
  return error.kind == ErrorKind::rejected || error.kind == ErrorKind::unauthorized ||
         error.kind == ErrorKind::unsupported;
}
// Another way of asking may still work.
bool try_another(const Error& error) {
  return is_refusal(error) || error.kind == ErrorKind::corrupt ||
         error.kind == ErrorKind::too_large;
}

// Keeps the labels of the series it is shown.
class LabelCollector final : public SampleSink {
 public:
  SeriesId open(std::string_view, const std::function<Labels()>& labels) override {
    seen_.push_back(labels());
    return static_cast<SeriesId>(seen_.size() - 1);
  }
  void append(SeriesId, std::span<const Sample>) override {}
  [[nodiscard]] const std::vector<Labels>& seen() const { return seen_; }

 private:
  std::vector<Labels> seen_;
};

bool contains(const Labels& all, const Labels& some) {
  return std::ranges::all_of(some.pairs(),
                             [&](const auto& pair) { return all.get(pair.first) == pair.second; });
}

}  // namespace

Status Backfill::read(const std::vector<Question>& questions, TimeRange span, SampleSink& sink,
                      const std::function<void()>& restart) {
  const bool any = way_ == BackfillWay::automatic;
  if (way_ == BackfillWay::remote_read || (any && !no_remote_read_)) {
    Status read = read_remotely(questions, span, sink);
    if (read || !any || !try_another(read.error())) return read;
    no_remote_read_ = is_refusal(read.error());
    restart();
  }
  if (way_ == BackfillWay::export_lines || (any && !no_export_)) {
    Status read = read_export(questions, span, sink);
    if (read || !any || !try_another(read.error())) return read;
    no_export_ = is_refusal(read.error());
    restart();
  }
  return read_ranges(api_, questions, span, kFirstPiece, sink);
}

Status Backfill::read_remotely(const std::vector<Question>& questions, TimeRange span,
                               SampleSink& sink) {
  if (!external_) {
    if (Status learned = learn_external_labels(questions, span.end); !learned) return learned;
  }
  std::vector<ReadQuery> queries;
  for (const Question& question : questions) {
    queries.push_back({closed_span(span), question.all_matchers()});
  }
  RemoteReadDecoder decoder(sink, closed_span(span), *external_);
  return api_.remote_read(queries, decoder);
}

Status Backfill::read_export(const std::vector<Question>& questions, TimeRange span,
                             SampleSink& sink) {
  std::vector<std::string> selectors;
  for (const Question& question : questions) selectors.push_back(question.selector());
  VmExportDecoder decoder(sink, closed_span(span));
  return api_.export_lines(selectors, closed_span(span), decoder);
}

// Remote read adds Prometheus' external_labels to every series; the query API doesn't. Left on,
// they would make other series of the same counters once live queries follow. So one series is
// looked up both ways, and what remote read has more is taken off all of them. That look also
// proves that remote read sees what queries see.
Status Backfill::learn_external_labels(const std::vector<Question>& questions, Timestamp at) {
  const Error unknown{ErrorKind::corrupt,
                      "remote read: no series at the end of the range tells which external labels "
                      "it adds; another way of reading is taken"};
  LabelCollector queried;
  for (const Question& question : questions) {
    auto info = api_.query("topk(1, " + question.selector() + ")", at, ReplyType::vector, queried);
    if (!info) return std::move(info).error();
    if (!queried.seen().empty()) break;
  }
  if (queried.seen().empty()) return unknown;
  const Labels& wanted = queried.seen().front();

  ReadQuery query{closed_span({at - kStaleAfter, at}), {}};
  for (const auto& [name, value] : wanted.pairs()) {
    auto matcher = Matcher::make(name, Matcher::Op::equal, value);
    if (!matcher) return std::move(matcher).error();
    query.matchers.push_back(*std::move(matcher));
  }
  LabelCollector read;
  RemoteReadDecoder decoder(read, query.span);
  if (Status status = api_.remote_read({query}, decoder); !status) return status;
  // Other series may have all these labels and more: the plainest is the one.
  const Labels* plainest = nullptr;
  for (const Labels& labels : read.seen()) {
    const bool fewer = plainest == nullptr || labels.pairs().size() < plainest->pairs().size();
    if (contains(labels, wanted) && fewer) plainest = &labels;
  }
  if (plainest == nullptr) return unknown;
  Labels external;
  for (const auto& [name, value] : plainest->pairs()) {
    if (wanted.get(name).empty()) external.set(name, value);
  }
  external_ = std::move(external);
  return ok();
}

}  // namespace outcomed
