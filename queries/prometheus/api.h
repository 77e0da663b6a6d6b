// The HTTP side of Prometheus' API: forms, addresses, and what a refusal means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/http_client.h"
#include "queries/base/result.h"
#include "queries/base/time.h"
#include "queries/counters/samples.h"
#include "queries/prometheus/query_reply.h"
#include "queries/prometheus/read_request.h"
#include "queries/prometheus/remote_read.h"
#include "queries/prometheus/settings.h"
#include "queries/prometheus/vm_export.h"

namespace outcomed {

// Errors begin with the request: "POST 127.0.0.1:9090/api/v1/query: …". Kinds are those of
// HttpClient, error_of_status and the decoders; `partial` where an answer says that data is missing
// and the settings don't accept that.
class PrometheusApi {
 public:
  PrometheusApi(const PrometheusSettings& settings, HttpClient& http);

  // An instant query at `at`; its series go to `sink`. Sent as a POST form, or with GET once the
  // server answered that it doesn't take POST.
  Result<ReplyInfo> query(const std::string& promql, Timestamp at, ReplyType expected,
                          SampleSink& sink);
  // Values of a label among the series that the selectors match during the span.
  Result<std::vector<std::string>> label_values(const std::string& label,
                                                const std::vector<std::string>& selectors,
                                                SampleSpan span);
  // All queries must ask for the span of the decoder.
  Status remote_read(const std::vector<ReadQuery>& queries, RemoteReadDecoder& decoder);
  Status export_lines(const std::vector<std::string>& selectors, SampleSpan span,
                      VmExportDecoder& decoder);

  // Warnings of partial answers that were accepted, since the last call.
  std::vector<std::string> take_warnings();
  [[nodiscard]] std::size_t last_body_size() const { return body_.size(); }
  // Frees buffers that one large answer left behind.
  void shrink();

 private:
  using Form = std::vector<std::pair<std::string, std::string>>;

  [[nodiscard]] HttpRequest make_request(std::string_view path) const;
  // Sends the form and hands the body of a 2xx answer to `on_body`; any other status is an error.
  // Gives what takes the request's secrets out of what is said about that body.
  Result<SecretScrubber> send_form(std::string_view path, const Form& form,
                                   const std::function<Status(std::string_view)>& on_body);
  Status check(const HttpResponse& response) const;
  [[nodiscard]] bool uses_get(std::string_view path) const;
  [[nodiscard]] std::string task(std::string_view path) const;

  const PrometheusSettings& settings_;
  HttpClient& http_;
  std::string base_;     // URL without a trailing slash.
  std::string address_;  // The same without scheme and user, for messages.
  // Answers are asked for packed; on this machine packing costs both more than it saves.
  bool packed_ = true;
  bool use_get_ = false;
  QueryReplyDecoder decoder_;
  std::string body_;
  std::vector<std::string> warnings_;
};

}  // namespace outcomed
