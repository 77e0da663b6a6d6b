#include "queries/prometheus/api.h"

#include <fmt/core.h>

#include "queries/prometheus/sample_text.h"

namespace outcomed {
namespace {

constexpr std::string_view kQueryPath = "/api/v1/query";
constexpr std::string_view kReadPath = "/api/v1/read";
constexpr std::string_view kExportPath = "/api/v1/export";
constexpr std::string_view kLabelPath = "/api/v1/label/";
constexpr std::size_t kMaxWarnings = 10;
constexpr std::size_t kWorthShrinking = std::size_t{4} << 20;

std::string seconds_text(std::int64_t ms) {
  const std::string_view sign = ms < 0 ? "-" : "";
  const std::uint64_t size =
      ms < 0 ? 0 - static_cast<std::uint64_t>(ms) : static_cast<std::uint64_t>(ms);
  return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
}

std::string encode(const std::vector<std::pair<std::string, std::string>>& form) {
  std::string text;
  for (const auto& [name, value] : form) {
    if (!text.empty()) text += '&';
    text += url_encode(name) + '=' + url_encode(value);
  }
  return text;
}

// HttpClient begins its messages with "POST http://host/…: ", the caller here with the same and the
// path: once is enough.
Error without_task(Error error, const HttpRequest& request) {
  const std::string task = fmt::format("{} {}: ", request.method, redact_url(request.url));
  if (error.message.starts_with(task)) error.message.erase(0, task.size());
  return error;
}

Error partial_error(const std::vector<std::string>& warnings) {
  std::string text =
      "the server says that data is missing (`accept_partial: true` counts it anyway)";
  for (const std::string& warning : warnings) text += "; " + warning;
  return {ErrorKind::partial, std::move(text)};
}

Error scrubbed(Error error, const SecretScrubber& scrubber) {
  error.message = scrubber.scrub(error.message);
  return error;
}

// `address` without scheme and user.
bool is_this_machine(std::string_view address) {
  const std::string_view host = address.substr(0, address.find_first_of("/:"));
  return host == "localhost" || host.starts_with("127.") || address.starts_with("[::1]");
}

}  // namespace

PrometheusApi::PrometheusApi(const PrometheusSettings& settings, HttpClient& http)
    : settings_(settings), http_(http), base_(settings.url) {
  while (!base_.empty() && base_.back() == '/') base_.pop_back();
  address_ = base_;
  if (const auto scheme = address_.find("://"); scheme != std::string::npos) {
    address_.erase(0, scheme + 3);
  }
  const auto user = address_.substr(0, address_.find('/')).rfind('@');
  if (user != std::string::npos) address_.erase(0, user + 1);
  packed_ = !is_this_machine(address_);
}

bool PrometheusApi::uses_get(std::string_view path) const {
  return path.starts_with(kLabelPath) || (use_get_ && path == kQueryPath);
}

std::string PrometheusApi::task(std::string_view path) const {
  return fmt::format("{} {}{}", uses_get(path) ? "GET" : "POST", address_, path);
}

HttpRequest PrometheusApi::make_request(std::string_view path) const {
  HttpRequest request;
  request.method = "POST";
  request.url = base_ + std::string(path);
  request.access = settings_.access;
  request.timeout = settings_.timeout;
  request.max_bytes = settings_.max_bytes;
  if (!packed_) request.headers.emplace_back("Accept-Encoding", "identity");
  return request;
}

Status PrometheusApi::check(const HttpResponse& response) const {
  if (response.status >= 200 && response.status < 300) return ok();
  if (response.status >= 300 && response.status < 400) {
    return Error{
        ErrorKind::rejected,
        fmt::format("HTTP {}: the server redirects to {}; put the final address into `url`",
                    response.status, redact_url(response.header("location")))};
  }
  Error error = error_of_status(response);
  if (const ApiError api = read_api_error(response.body); !api.text.empty()) {
    error.message = fmt::format("HTTP {}, {}: {}", response.status,
                                api.type.empty() ? "error" : api.type, api.text);
  }
  return scrubbed(std::move(error), response.scrubber);
}

Result<SecretScrubber> PrometheusApi::send_form(
    std::string_view path, const Form& form,
    const std::function<Status(std::string_view)>& on_body) {
  HttpRequest request = make_request(path);
  request.on_body = on_body;
  const bool get = uses_get(path);
  if (get) {
    request.method = "GET";
    request.url += '?' + encode(form);
  } else {
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    request.body = encode(form);
  }
  auto response = http_.send(request);
  if (!response) return without_task(std::move(response).error(), request);
  if (response->status == 405 && path == kQueryPath && !get) {
    use_get_ = true;
    return send_form(path, form, on_body);
  }
  if (Status checked = check(*response); !checked) return std::move(checked).error();
  return std::move(response->scrubber);
}

Result<ReplyInfo> PrometheusApi::query(const std::string& promql, Timestamp at, ReplyType expected,
                                       SampleSink& sink) {
  // nocache: without it older VictoriaMetrics moves questions about the last 30 s into the past.
  const Form form{{"query", promql},
                  {"time", seconds_text(unix_ms(at))},
                  {"timeout", seconds_text(settings_.timeout.count())},
                  {"nocache", "1"}};
  body_.clear();
  const auto fail = [&](Error error) {
    if (error.kind == ErrorKind::rejected) {
      error.message += fmt::format(" (query {})", excerpt(promql));
    }
    return std::move(error).while_doing(task(kQueryPath));
  };
  const auto keep = [this](std::string_view piece) {
    body_ += piece;
    return ok();
  };
  const auto sent = send_form(kQueryPath, form, keep);
  if (!sent) return fail(sent.error());
  auto info = decoder_.decode(body_, sink, expected);
  if (!info) return fail(scrubbed(std::move(info).error(), *sent));
  for (std::string& warning : info->warnings) warning = sent->scrub(warning);
  if (info->partial) {
    if (!settings_.accept_partial) return fail(partial_error(info->warnings));
    if (info->warnings.empty()) info->warnings.emplace_back("isPartial");
    for (std::string& warning : info->warnings) {
      if (warnings_.size() < kMaxWarnings) warnings_.push_back(warning);
    }
  }
  return info;
}

Result<std::vector<std::string>> PrometheusApi::label_values(
    const std::string& label, const std::vector<std::string>& selectors, SampleSpan span) {
  const std::string path = fmt::format("{}{}/values", kLabelPath, label);
  Form form{{"start", seconds_text(span.begin_ms)}, {"end", seconds_text(span.end_ms)}};
  for (const std::string& selector : selectors) form.emplace_back("match[]", selector);
  std::string body;
  const auto keep = [&body](std::string_view piece) {
    body += piece;
    return ok();
  };
  const auto sent = send_form(path, form, keep);
  if (!sent) return Error(sent.error()).while_doing(task(path));
  auto values = decode_label_values(body);
  if (!values) return scrubbed(std::move(values).error(), *sent).while_doing(task(path));
  return values;
}

Status PrometheusApi::remote_read(const std::vector<ReadQuery>& queries,
                                  RemoteReadDecoder& decoder) {
  HttpRequest request = make_request(kReadPath);
  request.headers = {{"Content-Type", "application/x-protobuf"},
                     {"Content-Encoding", "snappy"},
                     {"X-Prometheus-Remote-Read-Version", "0.1.0"}};
  request.body = remote_read_request(queries);
  request.on_body = [&decoder](std::string_view piece) { return decoder.feed(piece); };
  auto response = http_.send(request);
  if (!response) {
    return without_task(std::move(response).error(), request).while_doing(task(kReadPath));
  }
  Status status = check(*response);
  if (status) status = decoder.finish(response->header("content-type"));
  if (!status) {
    return scrubbed(std::move(status).error(), response->scrubber).while_doing(task(kReadPath));
  }
  return status;
}

Status PrometheusApi::export_lines(const std::vector<std::string>& selectors, SampleSpan span,
                                   VmExportDecoder& decoder) {
  Form form{{"start", seconds_text(span.begin_ms)}, {"end", seconds_text(span.end_ms)}};
  for (const std::string& selector : selectors) form.emplace_back("match[]", selector);
  const auto sent = send_form(kExportPath, form,
                              [&decoder](std::string_view piece) { return decoder.feed(piece); });
  if (!sent) return Error(sent.error()).while_doing(task(kExportPath));
  Status status = decoder.finish();
  if (!status) return scrubbed(std::move(status).error(), *sent).while_doing(task(kExportPath));
  return status;
}

std::vector<std::string> PrometheusApi::take_warnings() { return std::exchange(warnings_, {}); }

void PrometheusApi::shrink() {
  decoder_.shrink_to(body_.size());
  if (body_.capacity() > kWorthShrinking && body_.capacity() / 4 > body_.size()) {
    body_.shrink_to_fit();
  }
}

}  // namespace outcomed
