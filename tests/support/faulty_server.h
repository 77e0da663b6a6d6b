// An HTTP/1.1 server on 127.0.0.1 that behaves as badly as a test asks it to, and remembers what it
// was sent. It never sleeps and stops at once, whatever its clients do.
//
//   FaultyServer server;                              // Listens on a free port, answers 200 "ok".
//   server.on("/api/v1/query", Reply::json(R"({"status":"success"})"));
//   server.reply_once(Reply::too_many_requests("2"));  // The next request, whatever its path.
//   server.reply_once(Reply::reset());                 // The one after that.
//   ... something sends requests to server.url("/hook") ...
//   ASSERT_TRUE(server.wait_for_requests(3));
//   EXPECT_EQ(server.requests()[2].body, "…");
//
// Order of choice for a request: reply_once() in the order given, reply_by(), on() for its path,
// reply_with(). Link with outcomed_faulty_server.
// A client that keeps connections repeats a request by itself when close() or reset() meets it on a
// kept one; to see the fault, let it be the first request, or drop the connection after the reply
// before: Reply::ok().with_header("Connection", "close").
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace outcomed::testing {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct ReceivedRequest {
  std::string method;
  std::string target;   // As sent: "/api/v1/query?query=up"; a whole URL where we are the proxy.
  HttpHeaders headers;  // Names in lower case.
  std::string body;     // Of chunked requests the decoded one.
  std::size_t connection = 0;  // 0 for the first connection ever accepted; equal on a kept one.

  [[nodiscard]] std::string_view header(std::string_view lower_case_name) const;
  [[nodiscard]] std::string path() const { return target.substr(0, target.find('?')); }
};

struct Reply {
  enum class Mode {
    normal,
    hang,                 // Nothing is sent until release(); then the reply is.
    hang_after_headers,   // Headers go out, the body waits for release().
    drip,                 // One byte of the body every `amount` milliseconds.
    close,                // Connection closed without an answer.
    reset,                // The same by RST.
    reset_after_headers,  // Headers and half of the body, then RST.
    truncate,             // Content-Length promises `amount` bytes more than come.
    huge,                 // `amount` bytes of 'x', chunked.
    endless_headers,      // Header lines without end.
    endless_interim,      // "100 Continue" without end.
    raw,                  // `body` goes out as it is, then the connection is closed.
    tunnel,               // Answer to CONNECT: bytes go to and from 127.0.0.1:`amount`.
  };

  int status = 200;
  HttpHeaders headers;
  std::string body;
  Mode mode = Mode::normal;
  std::uint64_t amount = 0;

  static Reply ok(std::string body = "ok");
  static Reply json(std::string body, int status = 200);
  static Reply with_status(int status, std::string body = {});
  static Reply redirect(int status, std::string location);
  static Reply too_many_requests(std::string retry_after);  // Seconds, a date or garbage.
  static Reply hang(std::string body = "late");
  static Reply hang_after_headers(std::string body = "late");
  static Reply drip(std::string body,
                    std::chrono::milliseconds between = std::chrono::milliseconds(20));
  static Reply close();
  static Reply reset();
  static Reply reset_after_headers();
  static Reply truncated(std::string body, std::uint64_t missing_bytes = 10);
  static Reply huge(std::uint64_t bytes);
  static Reply endless_headers();
  static Reply endless_interim();
  static Reply raw(std::string bytes);
  static Reply tunnel(std::uint16_t port);
  static Reply gzip(std::string_view body);     // Compressed here; Content-Encoding is set.
  static Reply gzip_bomb(std::uint64_t bytes);  // So many zeros, about a thousandth on the wire.

  // The same reply with one more header; `with_header("connection", "close")` closes afterwards.
  [[nodiscard]] Reply with_header(std::string name, std::string value) &&;
};

std::string gzip_compressed(std::string_view text);

// Thread-safe. Every connection has a thread of its own.
class FaultyServer {
 public:
  FaultyServer();
  ~FaultyServer();
  FaultyServer(const FaultyServer&) = delete;
  FaultyServer& operator=(const FaultyServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(std::string_view path = "/") const;

  void reply_with(Reply reply);
  void reply_once(Reply reply);
  void on(std::string path, Reply reply);
  void reply_by(std::function<Reply(const ReceivedRequest&)> choose);

  // Journal. A request is entered when its body is complete, before the reply starts.
  [[nodiscard]] std::vector<ReceivedRequest> requests() const;
  [[nodiscard]] std::size_t connections() const;  // Accepted so far.
  // False if fewer than `count` have come in `patience`.
  [[nodiscard]] bool wait_for_requests(
      std::size_t count, std::chrono::milliseconds patience = std::chrono::seconds(20)) const;

  // Lets all replies that hang now go on.
  void release();
  // Closes the port and all connections: connecting is refused. The port stays ours.
  void refuse();
  void accept_again();
  // Drops the connections that are open, as a server does with idle ones; new ones are welcome.
  void drop_connections();

 private:
  void open_port();
  void accept_loop(int listener);
  void serve(int fd, std::size_t connection);
  bool answer(int fd, const ReceivedRequest& request, const Reply& reply,
              std::uint64_t releases_before);
  bool answer_body(int fd, const Reply& reply, std::uint64_t releases_before);
  bool wait_for_release(std::uint64_t releases_before);
  void tunnel(int fd, std::uint16_t port);
  Reply choose_reply(const ReceivedRequest& request);

  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t releases_ = 0;
  int listener_ = -1;
  std::size_t accepted_ = 0;
  std::set<int> open_;
  Reply standing_ = Reply::ok();
  std::deque<Reply> once_;
  std::map<std::string, Reply> by_path_;
  std::function<Reply(const ReceivedRequest&)> choose_;
  std::vector<ReceivedRequest> journal_;
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

}  // namespace outcomed::testing
