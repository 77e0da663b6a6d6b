#include "alerts/webhook/webhook.h"

#include <fmt/core.h>

#include <algorithm>

#include "alerts/digest.h"
#include "alerts/http_answer.h"
#include "alerts/text.h"
#include "alerts/webhook/payload.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxHeader = 255;

// What may stand in a header: printable ASCII without blanks.
std::string header_value(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxHeader)) out += c > 0x20 && c < 0x7F ? c : '_';
  return out;
}

Message without_resolved(Message message) {
  std::erase_if(message.alerts,
                [](const AlertMessage& alert) { return alert.status == AlertStatus::resolved; });
  return message;
}

// Path and query: with many services they are the key. Empty for none.
std::string target_of(std::string_view url) {
  const auto host = url.find("://");
  if (host == std::string_view::npos) return {};
  const auto path = url.find('/', host + 3);
  return path == std::string_view::npos ? "" : std::string(url.substr(path));
}

SendResult nothing_to_send(std::string why) {
  SendResult result;
  result.outcome = SendResult::Outcome::delivered;
  result.detail = std::move(why);
  return result;
}

}  // namespace

void WebhookSettings::visit(ParamVisitor& visitor) {
  visitor.url("url", url, "Where each notification is POSTed; http or https.");
  access.visit(visitor);
  visitor.secret("hmac_secret", hmac_secret,
                 "Key of the signature in X-Outcomed-Signature: HMAC-SHA256 over timestamp:body.");
  visitor.duration("timeout", timeout, "Longest time for one attempt, connection included.");
  visitor.count("max_alerts", max_alerts, {0, 100'000},
                "Alerts in one notification at most; the others are counted; 0 is no limit.");
  visitor.flag("send_resolved", send_resolved, "Whether to tell when an alert resolves.");
  if (url.empty())
    visitor.problem("url", "a webhook needs a URL", "url: https://hooks.example.org/x");
  if (timeout <= Duration::zero() || timeout > std::chrono::minutes(5)) {
    visitor.problem("timeout", "the timeout must be above zero and at most 5m", "timeout: 10s");
  }
}

WebhookReceiver::WebhookReceiver(WebhookSettings settings, HttpClient& client,
                                 SecretReader& secrets, std::function<Timestamp()> now)
    : settings_(std::move(settings)), client_(client), secrets_(secrets), now_(std::move(now)) {}

Status WebhookReceiver::sign(HttpRequest& request) {
  const auto secret = secrets_.read(settings_.hmac_secret);
  if (!secret) return Error(secret.error()).while_doing("hmac_secret");
  if (secret->empty()) {
    return Error{ErrorKind::invalid,
                 fmt::format("hmac_secret: {} is empty; nothing is sent unsigned",
                             settings_.hmac_secret.to_string())};
  }
  request.secrets.push_back(*secret);
  const std::string seconds = fmt::format("{}", unix_ms(now_()) / 1000);
  const auto signature = hmac_sha256_hex(secret->reveal(), seconds + ":" + request.body);
  if (!signature) return signature.error();
  request.headers.emplace_back("X-Outcomed-Timestamp", seconds);
  request.headers.emplace_back("X-Outcomed-Signature", *signature);
  return ok();
}

SendResult WebhookReceiver::send(const Message& message) {
  const Message told = settings_.send_resolved ? message : without_resolved(message);
  if (told.alerts.empty()) {
    return nothing_to_send(message.alerts.empty() ? "not sent: no alerts in the message"
                                                  : "not sent: send_resolved is off");
  }
  HttpRequest request;
  request.method = "POST";
  request.url = settings_.url;
  request.access = settings_.access;
  request.secrets.emplace_back(target_of(settings_.url));
  request.timeout = settings_.timeout;
  // A long answer to an accepted notification is no reason to send it again: it is read and
  // dropped.
  request.on_body = [](std::string_view) { return ok(); };
  request.body =
      webhook_body(told, static_cast<std::size_t>(std::max<std::int64_t>(settings_.max_alerts, 0)));
  request.headers = {{"Content-Type", "application/json"}};
  if (!message.idempotency_key.empty()) {
    request.headers.emplace_back("Idempotency-Key", header_value(message.idempotency_key));
  }
  if (settings_.hmac_secret.is_set()) {
    if (const Status signed_now = sign(request); !signed_now) {
      return send_result_of(signed_now.error(), now_());
    }
  }
  return send_result_of(client_.send(request), now_());
}

}  // namespace outcomed
