#include "queries/prometheus/query_reply.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>

#include "queries/prometheus/sample_text.h"
#include "queries/prometheus/simdjson_codes.h"

namespace outcomed {
namespace {

namespace od = simdjson::ondemand;

constexpr std::size_t kMaxWarnings = 10;
constexpr std::string_view kExpected = "the JSON of a query reply";

std::string_view name_of(ReplyType type) {
  switch (type) {
    case ReplyType::matrix:
      return "matrix";
    case ReplyType::vector:
      return "vector";
    case ReplyType::scalar:
      return "scalar";
  }
  return "matrix";
}

Error corrupt(std::string_view what) { return {ErrorKind::corrupt, std::string(what)}; }
Error bad_json(std::string_view what, simdjson::error_code code) {
  return corrupt(fmt::format("{}: {}", what, simdjson::error_message(code)));
}

bool is_null(od::value& value) {
  bool null = false;
  return value.is_null().get(null) == simdjson::SUCCESS && null;
}
bool at_end(od::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

// Decodes one reply; lives as long as the call.
class ReplyReader {
 public:
  ReplyReader(SampleSink& sink, ReplyType expected, LabelParser& labels)
      : sink_(sink), expected_(expected), label_parser_(labels) {}

  Result<ReplyInfo> read(od::document& document);

 private:
  Status read_field(std::string_view name, od::value value);
  Status read_data(od::value value);
  Status read_result(od::value value);
  Status read_element(od::value value);
  Status read_series(od::object object);
  Status open(od::object metric);
  Status read_points(od::value value);
  Status read_point(od::array pair);
  Status read_warnings(od::value value);
  void push(const Sample& sample);
  void flush();
  Error in_series(Error error) const;
  Status type_error() const;

  SampleSink& sink_;
  ReplyType expected_;
  LabelParser& label_parser_;

  ReplyInfo info_;
  std::string status_;
  ApiError error_;
  std::string type_;
  bool has_result_ = false;

  // The series being read.
  std::string_view key_;
  SeriesId id_ = 0;
  std::array<Sample, 256> points_;
  std::size_t point_count_ = 0;
  std::vector<bool> seen_;  // By series id.
};

Result<ReplyInfo> ReplyReader::read(od::document& document) {
  od::object root;
  if (const auto code = document.get_object().get(root)) return bad_json("no object", code);
  for (auto entry : root) {
    od::field field;
    std::string_view name;
    if (const auto code = std::move(entry).get(field))
      return bad_json("cut off or malformed", code);
    if (const auto code = field.unescaped_key().get(name)) return bad_json("a field name", code);
    if (Status read = read_field(name, field.value()); !read) return std::move(read).error();
  }
  if (!at_end(document)) return corrupt("something follows the reply");
  if (status_ == "error") {
    return Error{ErrorKind::rejected,
                 fmt::format("{}: {}", error_.type.empty() ? "error" : error_.type, error_.text)};
  }
  if (status_ != "success") {
    return corrupt(fmt::format("`status` is neither success nor error: {}", excerpt(status_, 40)));
  }
  if (!has_result_) return corrupt("the reply has no `data` with a `result`");
  if (type_ != name_of(expected_)) return type_error().error();
  return std::move(info_);
}

Status ReplyReader::read_field(std::string_view name, od::value value) {
  const auto text = [&](std::string& out) -> Status {
    std::string_view view;
    if (const auto code = value.get_string().get(view)) {
      return bad_json(fmt::format("`{}` is no text", name), code);
    }
    out = excerpt(view, 300);
    return ok();
  };
  if (name == "status") return text(status_);
  if (name == "errorType") return text(error_.type);
  if (name == "error") return text(error_.text);
  if (name == "data") return read_data(value);
  if (name == "warnings") return read_warnings(value);
  if (name == "isPartial") {
    bool partial = false;
    if (const auto code = value.get_bool().get(partial)) {
      return bad_json("`isPartial` is neither true nor false", code);
    }
    info_.partial = info_.partial || partial;
  }
  return ok();
}

Status ReplyReader::read_warnings(od::value value) {
  if (is_null(value)) return ok();
  od::array array;
  if (const auto code = value.get_array().get(array))
    return bad_json("`warnings` is no list", code);
  for (auto entry : array) {
    std::string_view text;
    if (const auto code = entry.get_string().get(text)) return bad_json("a warning", code);
    // Prometheus 2.48 to 2.54 put remarks about the expression among the warnings.
    if (text.empty() || text.starts_with("PromQL info:")) continue;
    info_.partial = true;
    if (info_.warnings.size() < kMaxWarnings) info_.warnings.push_back(excerpt(text));
  }
  return ok();
}

Status ReplyReader::type_error() const {
  return Error{ErrorKind::unsupported,
               fmt::format("the server answered with a {} where a {} was asked for",
                           type_.empty() ? "result without a type" : type_, name_of(expected_))};
}

Status ReplyReader::read_data(od::value value) {
  if (is_null(value)) return ok();  // As an error may bring it.
  od::object data;
  if (const auto code = value.get_object().get(data)) return bad_json("`data` is no object", code);
  for (auto entry : data) {
    od::field field;
    std::string_view name;
    if (const auto code = std::move(entry).get(field))
      return bad_json("cut off or malformed", code);
    if (const auto code = field.unescaped_key().get(name)) return bad_json("a field name", code);
    if (name == "resultType") {
      std::string_view type;
      if (const auto code = field.value().get_string().get(type))
        return bad_json("resultType", code);
      type_ = excerpt(type, 40);
      if (type_ != name_of(expected_)) return type_error();
    } else if (name == "result") {
      if (has_result_) return corrupt("the reply has two results");
      has_result_ = true;
      if (Status read = read_result(field.value()); !read) return read;
    }
  }
  return ok();
}

Status ReplyReader::read_result(od::value value) {
  od::array array;
  if (const auto code = value.get_array().get(array)) return bad_json("`result` is no list", code);
  if (expected_ == ReplyType::scalar) {
    key_ = "{}";
    id_ = sink_.open(key_, [] { return Labels(); });
    if (Status read = read_point(array); !read) return read;
    flush();
    info_.series = 1;
    return ok();
  }
  for (auto entry : array) {
    od::value element;
    if (const auto code = std::move(entry).get(element))
      return bad_json("cut off or malformed", code);
    if (Status read = read_element(element); !read) return read;
  }
  return ok();
}

Status ReplyReader::read_element(od::value value) {
  od::object object;
  if (const auto code = value.get_object().get(object))
    return bad_json("a series is no object", code);
  key_ = {};
  if (Status read = read_series(object); !read) {
    return in_series(std::move(read).error());
  }
  flush();
  ++info_.series;
  return ok();
}

Status ReplyReader::read_series(od::object object) {
  const std::string_view wanted = expected_ == ReplyType::matrix ? "values" : "value";
  bool has_points = false;
  for (auto entry : object) {
    od::field field;
    std::string_view name;
    if (const auto code = std::move(entry).get(field))
      return bad_json("cut off or malformed", code);
    if (const auto code = field.unescaped_key().get(name)) return bad_json("a field name", code);
    if (name == "metric") {
      od::object metric;
      if (const auto code = field.value().get_object().get(metric)) {
        return bad_json("`metric` is no object", code);
      }
      if (!key_.empty()) return corrupt("a series has two label sets");
      if (Status opened = open(metric); !opened) return opened;
    } else if (name == wanted) {
      if (key_.empty()) return corrupt("values stand before their labels");
      has_points = true;
      if (Status read = read_points(field.value()); !read) return read;
    } else if (name == "histogram" || name == "histograms") {
      return Error{ErrorKind::unsupported,
                   "the series is a native histogram; classic counters are needed (its _count and "
                   "_bucket series: `scrape_classic_histograms: true` in Prometheus)"};
    }
  }
  if (key_.empty() || !has_points) return corrupt("a series lacks its labels or its values");
  return ok();
}

Status ReplyReader::open(od::object metric) {
  if (const auto code = metric.raw_json().get(key_)) return bad_json("`metric` is malformed", code);
  while (!key_.empty() && key_.back() != '}') key_.remove_suffix(1);  // Blanks before the comma.
  Status labels_read = ok();
  const auto labels = [this, &labels_read] {
    auto parsed = label_parser_.parse(key_);
    if (parsed) return *std::move(parsed);
    labels_read = std::move(parsed).error();
    return Labels();
  };
  id_ = sink_.open(key_, labels);
  if (!labels_read) return labels_read;
  if (id_ >= seen_.size()) seen_.resize(std::size_t{id_} + 1);
  if (seen_[id_]) return corrupt("the reply holds this label set twice");
  seen_[id_] = true;
  return ok();
}

Status ReplyReader::read_points(od::value value) {
  od::array array;
  if (const auto code = value.get_array().get(array)) return bad_json("values are no list", code);
  if (expected_ == ReplyType::vector) return read_point(array);
  for (auto entry : array) {
    od::array pair;
    if (const auto code = entry.get_array().get(pair)) return bad_json("a value is no pair", code);
    if (Status read = read_point(pair); !read) return read;
  }
  return ok();
}

// [1796008472.071,"8"]
Status ReplyReader::read_point(od::array pair) {
  Sample sample;
  int position = 0;
  for (auto entry : pair) {
    od::value item;
    if (const auto code = std::move(entry).get(item)) return bad_json("a value is cut off", code);
    if (position == 0) {
      double seconds = 0;
      if (const auto code = item.get_double().get(seconds)) return bad_json("a time", code);
      if (!sample_time(seconds, sample.at_ms)) {
        return corrupt(fmt::format("{} is no time in Unix seconds", seconds));
      }
    } else if (position == 1) {
      std::string_view text;
      if (const auto code = item.get_string().get(text)) return bad_json("a value", code);
      if (!parse_sample_value(text, sample.value)) {
        return corrupt(fmt::format("\"{}\" is no number", excerpt(text, 40)));
      }
    }
    ++position;
  }
  if (position != 2) return corrupt("a value is not a pair of time and number");
  push(sample);
  return ok();
}

void ReplyReader::push(const Sample& sample) {
  points_[point_count_++] = sample;
  if (point_count_ == points_.size()) flush();
}

void ReplyReader::flush() {
  if (point_count_ > 0) sink_.append(id_, {points_.data(), point_count_});
  info_.samples += point_count_;
  point_count_ = 0;
}

Error ReplyReader::in_series(Error error) const {
  if (key_.empty()) return error;
  return std::move(error).while_doing(excerpt(key_, 300));
}

}  // namespace

struct QueryReplyDecoder::State {
  od::parser parser;
  LabelParser labels;
};

QueryReplyDecoder::QueryReplyDecoder() : state_(std::make_unique<State>()) {}
QueryReplyDecoder::~QueryReplyDecoder() = default;

Result<ReplyInfo> QueryReplyDecoder::decode(std::string& body, SampleSink& sink,
                                            ReplyType expected) {
  const auto first = body.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || body[first] != '{') return not_json(body, kExpected);
  body.reserve(body.size() + kJsonPadding);
  od::document document;
  const auto code =
      state_->parser.iterate(body.data(), body.size(), body.size() + kJsonPadding).get(document);
  if (code) return bad_json("the answer is cut off or not JSON", code);
  ReplyReader reader(sink, expected, state_->labels);
  return reader.read(document);
}

void QueryReplyDecoder::shrink_to(std::size_t bytes) {
  constexpr std::size_t kWorthIt = std::size_t{4} << 20;
  if (state_->parser.capacity() > kWorthIt && state_->parser.capacity() / 4 > bytes) {
    state_->parser = od::parser();
  }
}

Result<ReplyInfo> decode_query_reply(std::string& body, SampleSink& sink, ReplyType expected) {
  return QueryReplyDecoder().decode(body, sink, expected);
}

ApiError read_api_error(std::string_view body) {
  od::parser parser;
  od::document document;
  od::object root;
  const simdjson::padded_string padded(body);
  ApiError error;
  if (parser.iterate(padded).get(document) || document.get_object().get(root)) return error;
  for (auto entry : root) {
    od::field field;
    std::string_view name;
    if (std::move(entry).get(field) || field.unescaped_key().get(name)) break;
    std::string_view text;
    const bool wanted = name == "errorType" || name == "error";
    if (!wanted || field.value().get_string().get(text)) continue;
    (name == "error" ? error.text : error.type) = excerpt(text, 300);
  }
  return error;
}

}  // namespace outcomed
