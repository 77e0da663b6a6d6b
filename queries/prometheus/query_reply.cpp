#include "queries/prometheus/query_reply.h"

#include <fmt/core.h>

#include "queries/prometheus/sample_text.h"
#include "queries/prometheus/series_reader.h"
#include "queries/prometheus/simdjson_codes.h"

namespace outcomed {
namespace {

namespace od = simdjson::ondemand;

constexpr std::size_t kMaxWarnings = 10;
constexpr std::string_view kExpected = "the JSON of a query reply";

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
      : expected_(expected), series_(sink, expected, labels, info_) {}

  Result<ReplyInfo> read(od::document& document);

 private:
  Status read_field(std::string_view name, od::value value);
  Status read_data(od::value value);
  Status read_warnings(od::value value);
  Status type_error() const;

  ReplyType expected_;
  ReplyInfo info_;
  SeriesReader series_;
  std::string status_;
  ApiError error_;
  std::string type_;
  bool has_result_ = false;
};

Result<ReplyInfo> ReplyReader::read(od::document& document) {
  od::object root;
  if (const auto code = document.get_object().get(root)) return broken("no object", code);
  for (auto entry : root) {
    od::field field;
    std::string_view name;
    if (const auto code = std::move(entry).get(field)) return broken("cut off or malformed", code);
    if (const auto code = field.unescaped_key().get(name)) return broken("a field name", code);
    if (Status read = read_field(name, field.value()); !read) return std::move(read).error();
  }
  if (!at_end(document)) return broken("something follows the reply");
  if (status_ == "error") {
    return Error{ErrorKind::rejected,
                 fmt::format("{}: {}", error_.type.empty() ? "error" : error_.type, error_.text)};
  }
  if (status_ != "success") {
    return broken(fmt::format("`status` is neither success nor error: {}", excerpt(status_, 40)));
  }
  if (!has_result_) return broken("the reply has no `data` with a `result`");
  if (type_ != name_of(expected_)) return type_error().error();
  return std::move(info_);
}

Status ReplyReader::read_field(std::string_view name, od::value value) {
  const auto text = [&](std::string& out) -> Status {
    std::string_view view;
    if (const auto code = value.get_string().get(view)) {
      return broken(fmt::format("`{}` is no text", name), code);
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
      return broken("`isPartial` is neither true nor false", code);
    }
    info_.partial = info_.partial || partial;
  }
  return ok();
}

Status ReplyReader::read_warnings(od::value value) {
  if (is_null(value)) return ok();
  od::array array;
  if (const auto code = value.get_array().get(array)) return broken("`warnings` is no list", code);
  for (auto entry : array) {
    std::string_view text;
    if (const auto code = entry.get_string().get(text)) return broken("a warning", code);
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
  if (const auto code = value.get_object().get(data)) return broken("`data` is no object", code);
  for (auto entry : data) {
    od::field field;
    std::string_view name;
    if (const auto code = std::move(entry).get(field)) return broken("cut off or malformed", code);
    if (const auto code = field.unescaped_key().get(name)) return broken("a field name", code);
    if (name == "resultType") {
      std::string_view type;
      if (const auto code = field.value().get_string().get(type)) return broken("resultType", code);
      type_ = excerpt(type, 40);
      if (type_ != name_of(expected_)) return type_error();
    } else if (name == "result") {
      if (has_result_) return broken("the reply has two results");
      has_result_ = true;
      if (Status read = series_.read_result(field.value()); !read) return read;
    }
  }
  return ok();
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
  if (code) return broken("the answer is cut off or not JSON", code);
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

Result<std::vector<std::string>> decode_label_values(std::string& body) {
  const ApiError error = read_api_error(body);
  if (!error.text.empty()) {
    return Error{ErrorKind::rejected, fmt::format("{}: {}", error.type, error.text)};
  }
  od::parser parser;
  od::document document;
  od::array array;
  std::vector<std::string> values;
  const simdjson::padded_string padded(body);
  if (parser.iterate(padded).get(document) || document["data"].get_array().get(array)) {
    return not_json(body, "a list of label values");
  }
  for (auto entry : array) {
    std::string_view value;
    if (const auto code = entry.get_string().get(value)) return broken("a label value", code);
    values.emplace_back(value);
  }
  return values;
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
