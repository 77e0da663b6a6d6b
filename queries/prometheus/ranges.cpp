#include "queries/prometheus/ranges.h"

#include <algorithm>
#include <string_view>

namespace outcomed {
namespace {

constexpr Duration kShortestPiece = 10s;
constexpr Duration kLongestPiece = std::chrono::hours(24);
// Below this an answer costs little memory, and the next may be twice as long.
constexpr std::size_t kSmallAnswer = std::size_t{4} << 20;

bool asks_for_less(const Error& error) {
  if (error.kind == ErrorKind::too_large) return true;
  if (error.kind != ErrorKind::rejected) return false;
  // Prometheus: "query processing would load too many samples into memory"; VictoriaMetrics:
  // "… -search.maxSamplesPerQuery …", "… -search.maxSamplesPerSeries …".
  return error.message.find("too many samples") != std::string::npos ||
         error.message.find("search.maxSamples") != std::string::npos;
}

// Samples seen in one piece; an error leaves what was appended to the caller.
Status read_piece(PrometheusApi& api, const std::vector<Question>& questions, TimeRange piece,
                  SampleSink& sink, std::size_t& bytes) {
  bytes = 0;
  for (const Question& question : questions) {
    auto info =
        api.query(question.range_selector(piece.length()), piece.end, ReplyType::matrix, sink);
    if (!info) return std::move(info).error();
    bytes = std::max(bytes, api.last_body_size());
  }
  return ok();
}

}  // namespace

Status read_ranges(PrometheusApi& api, const std::vector<Question>& questions, TimeRange span,
                   Duration piece, SampleSink& sink) {
  for (Timestamp begin = span.begin; begin < span.end;) {
    const Timestamp end = std::min(span.end, begin + piece);
    std::size_t bytes = 0;
    Status read = read_piece(api, questions, {begin, end}, sink, bytes);
    if (!read) {
      const Duration half = (end - begin) / 2;
      if (!asks_for_less(read.error()) || half < kShortestPiece) return read;
      piece = half;
      continue;
    }
    begin = end;
    if (bytes < kSmallAnswer) piece = std::min(piece * 2, kLongestPiece);
  }
  return ok();
}

}  // namespace outcomed
