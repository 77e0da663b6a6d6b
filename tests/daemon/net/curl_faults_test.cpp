// What a request becomes when the other side fails in each known way.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/daemon/net/net_fixture.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct FaultCase {
  std::string name;
  Reply reply;
  ErrorKind expected;
  Duration timeout = 20s;
};

void PrintTo(const FaultCase& fault, std::ostream* out) { *out << fault.name; }

Reply chunked(const std::string& chunks) {
  return Reply::raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
}

Reply gzip_bytes(const std::string& bytes) {
  return Reply::ok(bytes).with_header("Content-Encoding", "gzip");
}

std::string random_canary() {
  std::random_device random;
  std::string text = "Canary";
  for (int i = 0; i < 16; ++i) text += static_cast<char>('a' + random() % 26);
  return text;
}

std::string base64(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
  }
  return out;  // Without the padded end: a piece to search for.
}

class CurlFaultTest : public NetTest, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(CurlFaultTest, IsAnErrorOfItsKindWithoutASecretAndTheNextRequestIsFine) {
  const std::string canary = random_canary();
  environment["SECRET"] = canary;
  FaultyServer server;
  server.reply_once(GetParam().reply);
  HttpRequest request = post(server.url("/" + canary + "?token=" + canary), canary);
  request.access.basic_user = "user";
  request.access.basic_password = env_ref("SECRET");
  request.access.headers = {{"X-Key", env_ref("SECRET")}};
  request.headers = {{"X-Other", canary}};
  request.max_bytes = 1 << 20;
  request.timeout = GetParam().timeout;
  auto response = client.send(request);
  ASSERT_FALSE(response) << response->status << " " << response->body.substr(0, 100);
  EXPECT_EQ(response.error().kind, GetParam().expected) << response.error().message;
  EXPECT_THAT(response.error().message, Not(HasSubstr(canary)));
  EXPECT_THAT(response.error().message, Not(HasSubstr(base64("user:" + canary).substr(8, 16))));
  RecordProperty("message", response.error().message);
  auto next = client.send(get(server.url("/next")));
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->body, "ok");
}

const std::string kPacked = gzip_compressed(std::string(1000, 'm') + "end");

INSTANTIATE_TEST_SUITE_P(
    Every, CurlFaultTest,
    ::testing::Values(
        FaultCase{"closed_without_answer", Reply::close(), ErrorKind::unavailable},
        FaultCase{"reset", Reply::reset(), ErrorKind::unavailable},
        FaultCase{"reset_in_the_body", Reply::reset_after_headers(), ErrorKind::unavailable},
        FaultCase{"hang_before_headers", Reply::hang(), ErrorKind::timeout, 200ms},
        FaultCase{"hang_after_headers", Reply::hang_after_headers(), ErrorKind::timeout, 200ms},
        FaultCase{"drip", Reply::drip(std::string(10000, 'd')), ErrorKind::timeout, 300ms},
        FaultCase{"truncated", Reply::truncated("half"), ErrorKind::corrupt},
        FaultCase{"two_gigabytes", Reply::huge(2'000'000'000), ErrorKind::too_large},
        FaultCase{"gzip_bomb", Reply::gzip_bomb(100'000'000), ErrorKind::too_large},
        FaultCase{"endless_headers", Reply::endless_headers(), ErrorKind::too_large},
        FaultCase{"endless_interim_answers", Reply::endless_interim(), ErrorKind::too_large},
        FaultCase{"one_endless_header",
                  Reply::raw("HTTP/1.1 200 OK\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n"),
                  ErrorKind::too_large},
        FaultCase{"not_http", Reply::raw("SSH-2.0-OpenSSH_9.2\r\n"), ErrorKind::corrupt},
        FaultCase{"binary_garbage", Reply::raw(std::string("\0\1\2\xff\xfe", 5)),
                  ErrorKind::corrupt},
        FaultCase{"bad_chunk_size", chunked("zz\r\nxx\r\n0\r\n\r\n"), ErrorKind::corrupt},
        FaultCase{"huge_chunk_size", chunked("ffffffffffffffffff\r\nxx"), ErrorKind::corrupt},
        FaultCase{"chunks_without_end", chunked("5\r\nhello\r\n"), ErrorKind::corrupt},
        FaultCase{"chunk_cut_short", chunked("5\r\nhe"), ErrorKind::corrupt},
        FaultCase{"negative_length",
                  Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"),
                  ErrorKind::corrupt},
        FaultCase{"headers_cut_short", Reply::raw("HTTP/1.1 200 OK\r\nContent-Le"),
                  ErrorKind::corrupt},
        FaultCase{"interim_answer_only", Reply::raw("HTTP/1.1 100 Continue\r\n\r\n"),
                  ErrorKind::unavailable},
        FaultCase{"protocol_switch_unasked",
                  Reply::raw("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nxx"), ErrorKind::corrupt},
        FaultCase{"two_lengths",
                  Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                             "Content-Length: 4\r\n\r\nhell"),
                  ErrorKind::corrupt},
        FaultCase{"gzip_cut_short", gzip_bytes(kPacked.substr(0, kPacked.size() / 2)),
                  ErrorKind::corrupt},
        FaultCase{"gzip_without_checksum", gzip_bytes(kPacked.substr(0, kPacked.size() - 8)),
                  ErrorKind::corrupt},
        FaultCase{"gzip_that_is_text", gzip_bytes("<html>"), ErrorKind::corrupt},
        FaultCase{"brotli_unasked", Reply::ok("x").with_header("Content-Encoding", "br"),
                  ErrorKind::corrupt}),
    [](const auto& fault) { return fault.param.name; });

class CurlTroubleTest : public NetTest {};

TEST_F(CurlTroubleTest, ARefusedConnectionIsUnavailableUntilTheServerIsBack) {
  FaultyServer server;
  ASSERT_TRUE(client.send(get(server.url())));
  server.refuse();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.send(get(server.url())).error().kind, ErrorKind::unavailable);
  }
  server.accept_again();
  EXPECT_TRUE(client.send(get(server.url())));
}

TEST_F(CurlTroubleTest, ALateAnswerIsWaitedForWithinTheDeadline) {
  FaultyServer server;
  server.reply_with(Reply::hang("late"));
  std::thread helper([&] {
    EXPECT_TRUE(server.wait_for_requests(1));
    server.release();
  });
  auto response = client.send(get(server.url()));
  helper.join();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "late");
}

TEST_F(CurlTroubleTest, TheDeadlineIsOneForAllRedirectsTogether) {
  FaultyServer server;
  server.reply_by([](const ReceivedRequest&) {
    Reply reply =
        Reply::drip("0123456789", std::chrono::milliseconds(20)).with_header("Location", "/");
    reply.status = 302;
    return reply;
  });
  HttpRequest request = get(server.url());
  request.same_host_redirects = 1000000;
  request.timeout = 500ms;
  auto response = client.send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::timeout);
  EXPECT_THAT(response.error().message, HasSubstr("500ms"));
}

TEST_F(CurlTroubleTest, ATimeoutOfNothingIsATimeout) {
  FaultyServer server;
  HttpRequest request = get(server.url());
  for (const Duration timeout : {Duration(0), Duration(-1), Duration::min()}) {
    request.timeout = timeout;
    EXPECT_EQ(client.send(request).error().kind, ErrorKind::timeout);
  }
  request.timeout = Duration::max();
  EXPECT_TRUE(client.send(request));
}

// Its queue of waiting connections is full, so the kernel drops what arrives: connecting hangs.
class FullListener {
 public:
  FullListener() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* raw = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(::bind(listener_, raw, size), 0);
    EXPECT_EQ(::getsockname(listener_, raw, &size), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    for (int& fd : fillers_) {
      fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      ::connect(fd, raw, size);
    }
  }
  ~FullListener() {
    for (const int fd : fillers_) ::close(fd);
    ::close(listener_);
  }
  FullListener(const FullListener&) = delete;
  FullListener& operator=(const FullListener&) = delete;
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/";
  }

 private:
  int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address_{};
  std::array<int, 4> fillers_{};
};

TEST_F(CurlTroubleTest, ConnectingHasATimeoutOfItsOwn) {
  const FullListener listener;
  CurlOptions options;
  options.connect_timeout = 200ms;
  CurlClient hasty(secrets, options);
  HttpRequest request = get(listener.url());
  request.timeout = 24h;
  auto response = hasty.send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::timeout);
}

TEST_F(CurlTroubleTest, StoppingEndsARequestThatHangs) {
  for (const Reply& reply :
       {Reply::hang(), Reply::hang_after_headers(), Reply::drip(std::string(100000, 'd'))}) {
    FaultyServer server;
    server.reply_with(reply);
    std::atomic<bool> stop{false};
    CurlOptions options;
    options.stopping = [&] { return stop.load(); };
    CurlClient stoppable(secrets, options);
    std::thread helper([&] {
      EXPECT_TRUE(server.wait_for_requests(1));
      stop = true;
    });
    HttpRequest request = get(server.url());
    request.timeout = 1h;
    auto response = stoppable.send(request);
    helper.join();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(response.error().message, HasSubstr("stopping"));
  }
}

TEST_F(CurlTroubleTest, ASecureRequestToAPlainServerIsUnavailable) {
  FaultyServer server;
  auto response = client.send(get("https" + server.url().substr(4)));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::unavailable);
}

}  // namespace
}  // namespace outcomed::testing
