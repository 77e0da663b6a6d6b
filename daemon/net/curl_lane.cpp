#include "daemon/net/curl_lane.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>

#include "daemon/net/curl_setup.h"

namespace outcomed {
namespace {

constexpr Duration kStopPoll = 100ms;
constexpr long kMaxConnections = 8;

// What the callbacks write to. Neither errors nor exceptions may pass through libcurl's frames, so
// they wait here.
struct Incoming {
  ResponseReader reader;
  std::optional<Error> error;
  std::exception_ptr thrown;

  template <class Take>
  bool take(const Take& take_into) noexcept {
    try {
      Status taken = take_into(reader);
      if (taken) return true;
      error = std::move(taken).error();
    } catch (...) {
      thrown = std::current_exception();
    }
    return false;
  }
};

std::size_t receive_header(char* data, std::size_t size, std::size_t count, void* incoming) {
  const std::string_view line(data, size * count);
  const bool taken = static_cast<Incoming*>(incoming)->take(
      [&](ResponseReader& reader) { return reader.take_header(line); });
  return taken ? line.size() : 0;
}

std::size_t receive_body(char* data, std::size_t size, std::size_t count, void* incoming) {
  const std::string_view piece(data, size * count);
  const bool taken = static_cast<Incoming*>(incoming)->take(
      [&](ResponseReader& reader) { return reader.take_body(piece); });
  return taken ? piece.size() : CURL_WRITEFUNC_ERROR;
}

// Forgets the options, and so the credentials and the pointers to locals; keeps the connections.
class HandleReset {
 public:
  explicit HandleReset(CURL* easy) : easy_(easy) {}
  ~HandleReset() { curl_easy_reset(easy_); }
  HandleReset(const HandleReset&) = delete;
  HandleReset& operator=(const HandleReset&) = delete;

 private:
  CURL* easy_;
};

class Attachment {
 public:
  Attachment(CURLM* multi, CURL* easy)
      : multi_(multi), easy_(easy), code_(curl_multi_add_handle(multi, easy)) {}
  ~Attachment() {
    if (code_ == CURLM_OK) curl_multi_remove_handle(multi_, easy_);
  }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  [[nodiscard]] CURLMcode code() const { return code_; }

 private:
  CURLM* multi_;
  CURL* easy_;
  CURLMcode code_;
};

Error error_of_multi(CURLMcode code) {
  return {ErrorKind::unavailable, std::string("libcurl failed: ") + curl_multi_strerror(code)};
}

// How long to wait for the network before looking at the clock again, or why not to.
Result<Duration> next_wait(const Attempt& attempt) {
  if (attempt.options.stopping && attempt.options.stopping()) {
    return Error{ErrorKind::unavailable, "given up, since the daemon is stopping"};
  }
  const auto left = attempt.deadline - std::chrono::steady_clock::now();
  if (left <= left.zero()) {
    return Error{ErrorKind::timeout, "no whole answer within " + format_duration(attempt.timeout)};
  }
  return std::min(kStopPoll, std::chrono::ceil<Duration>(left));
}

}  // namespace

std::unique_ptr<CurlLane> CurlLane::open() {
  std::unique_ptr<CurlLane> lane(new CurlLane);  // NOLINT: the constructor is private
  lane->multi_.reset(curl_multi_init());
  lane->easy_.reset(curl_easy_init());
  if (!lane->multi_ || !lane->easy_) return nullptr;
  curl_multi_setopt(lane->multi_.get(), CURLMOPT_MAXCONNECTS, kMaxConnections);
  return lane;
}

Result<HttpResponse> CurlLane::perform(const Attempt& attempt) {
  Incoming incoming{ResponseReader(attempt.request), std::nullopt, nullptr};
  std::array<char, CURL_ERROR_SIZE> curl_message{};
  TransferLists lists;
  const HandleReset reset(easy_.get());
  if (auto ready = set_up_transfer(easy_.get(), attempt, lists); !ready) {
    return std::move(ready).error();
  }
  curl_easy_setopt(easy_.get(), CURLOPT_ERRORBUFFER, curl_message.data());
  curl_easy_setopt(easy_.get(), CURLOPT_HEADERFUNCTION, &receive_header);
  curl_easy_setopt(easy_.get(), CURLOPT_HEADERDATA, &incoming);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, &receive_body);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEDATA, &incoming);

  auto driven = drive(attempt, curl_message.data());
  if (incoming.thrown) std::rethrow_exception(incoming.thrown);
  if (incoming.error) return *std::move(incoming.error);
  if (!driven) return std::move(driven).error();
  if (auto whole = incoming.reader.finish(); !whole) return std::move(whole).error();
  return std::move(incoming.reader.response());
}

Status CurlLane::drive(const Attempt& attempt, const char* curl_message) {
  const Attachment attached(multi_.get(), easy_.get());
  if (attached.code() != CURLM_OK) return error_of_multi(attached.code());
  for (int running = 1; true;) {
    CURLMcode code = curl_multi_perform(multi_.get(), &running);
    if (code != CURLM_OK) return error_of_multi(code);
    if (running == 0) break;
    auto wait = next_wait(attempt);
    if (!wait) return std::move(wait).error();
    code = curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(wait->count()), nullptr);
    if (code != CURLM_OK) return error_of_multi(code);
  }
  int more = 0;
  const CURLMsg* end = curl_multi_info_read(multi_.get(), &more);
  if (end == nullptr || end->msg != CURLMSG_DONE) {
    return Error{ErrorKind::unavailable, "libcurl lost the transfer"};
  }
  if (end->data.result == CURLE_OK) return ok();
  return error_of_curl(end->data.result, curl_message);
}

}  // namespace outcomed
