#include "daemon/net/response_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Error body_too_large(std::int64_t limit) {
  return {ErrorKind::too_large,
          fmt::format("the answer is larger than its limit of {} bytes", limit)};
}

}  // namespace

Status ResponseReader::take_header(std::string_view line) {
  header_bytes_ += static_cast<std::int64_t>(line.size());
  if (header_bytes_ > kMaxHeaderBytes) {
    return Error{ErrorKind::too_large,
                 fmt::format("the answer's headers are larger than {} bytes", kMaxHeaderBytes)};
  }
  if (line.starts_with("HTTP/") && (headers_ended_ || response_.status == 0)) {
    start_answer(line);
    return ok();
  }
  if (headers_ended_) return ok();  // A trailer; nobody here needs one.
  if (without_blanks(line).empty()) return end_headers();
  add_header(line);
  return ok();
}

void ResponseReader::start_answer(std::string_view status_line) {
  response_.status = 0;
  response_.headers.clear();
  headers_ended_ = false;
  const auto space = status_line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view digits = without_blanks(status_line.substr(space)).substr(0, 3);
  std::from_chars(digits.data(), digits.data() + digits.size(), response_.status);
}

void ResponseReader::add_header(std::string_view line) {
  if ((line.front() == ' ' || line.front() == '\t') && !response_.headers.empty()) {
    response_.headers.back().second += ' ';
    response_.headers.back().second += without_blanks(line);  // The old folded form.
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  response_.headers.emplace_back(lower_case(without_blanks(line.substr(0, colon))),
                                 without_blanks(line.substr(colon + 1)));
}

Status ResponseReader::end_headers() {
  headers_ended_ = true;
  gzip_.reset();
  const std::string_view length = response_.header("content-length");
  for (const auto& [name, value] : response_.headers) {
    // libcurl would believe the last one.
    if (name == "content-length" && value != length) {
      return Error{ErrorKind::corrupt, "the answer has two different lengths"};
    }
  }
  const std::string encoding = lower_case(response_.header("content-encoding"));
  if (encoding.empty() || encoding == "identity") return ok();
  if (encoding != "gzip" && encoding != "x-gzip") {
    return Error{ErrorKind::corrupt, "the answer has a content encoding that was not asked for"};
  }
  gzip_.emplace();
  return ok();
}

Status ResponseReader::take_body(std::string_view piece) {
  if (!gzip_) return pass_on(piece);
  // Endless gzip headers decode to nothing, so what arrives is bounded too. Data that can't be
  // compressed grows by 0.03 % and a header; the slack is ten times that.
  const std::int64_t slack = 64 * 1024 + request_.max_bytes / 256;
  wire_bytes_ += static_cast<std::int64_t>(piece.size());
  if (wire_bytes_ - slack > request_.max_bytes) return body_too_large(request_.max_bytes);
  return gzip_->feed(piece, [this](std::string_view decoded) { return pass_on(decoded); });
}

Status ResponseReader::pass_on(std::string_view decoded) {
  decoded_bytes_ += static_cast<std::int64_t>(decoded.size());
  if (decoded_bytes_ > request_.max_bytes) return body_too_large(request_.max_bytes);
  if (request_.on_body && response_.status / 100 == 2) return request_.on_body(decoded);
  response_.body.append(decoded);
  return ok();
}

Status ResponseReader::finish() const {
  // libcurl calls both of these a success.
  if (!headers_ended_) {
    return Error{ErrorKind::corrupt, "the answer ends within its headers"};
  }
  if (response_.status < 200) {
    return Error{ErrorKind::corrupt, "the answer ends before its final status"};
  }
  if (gzip_ && !gzip_->is_whole()) {
    return Error{ErrorKind::corrupt, "the gzip body ends before its end"};
  }
  return ok();
}

}  // namespace outcomed
