// An HttpClient that answers as a test says and remembers what it was asked.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "queries/base/http_client.h"

namespace outcomed::testing {

class ScriptedClient final : public HttpClient {
 public:
  using Answer = std::function<Result<HttpResponse>(const HttpRequest&)>;

  static HttpResponse response(int status, std::string body = {},
                               std::vector<std::pair<std::string, std::string>> headers = {}) {
    HttpResponse made;
    made.status = status;
    made.body = std::move(body);
    made.headers = std::move(headers);
    return made;
  }

  void always(Answer answer) { standing_ = std::move(answer); }
  void once(Result<HttpResponse> answer) { once_.push_back(std::move(answer)); }

  Result<HttpResponse> send(const HttpRequest& request) override {
    requests.push_back(request);
    if (!once_.empty()) {
      Result<HttpResponse> answer = std::move(once_.front());
      once_.pop_front();
      return answer;
    }
    return standing_(request);
  }

  std::vector<HttpRequest> requests;

 private:
  Answer standing_ = [](const HttpRequest&) { return response(200); };
  std::deque<Result<HttpResponse>> once_;
};

// Secrets by the text of their reference.
class ScriptedSecrets final : public SecretReader {
 public:
  Result<Secret> read(const SecretRef& ref) override {
    ++reads;
    const auto at = values.find(ref.to_string());
    if (at == values.end()) {
      return Error{ErrorKind::invalid, ref.to_string() + ": no such file"};
    }
    return Secret(at->second);
  }

  std::map<std::string, std::string> values;
  int reads = 0;
};

inline std::string header_of(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace outcomed::testing
