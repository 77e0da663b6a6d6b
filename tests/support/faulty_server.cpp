#include "tests/support/faulty_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "queries/base/ascii.h"

namespace outcomed::testing {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Repeats one piece until the other side has enough, or `pieces` are sent.
bool send_repeated(int fd, std::string_view piece, std::uint64_t pieces) {
  for (std::uint64_t i = 0; i < pieces; ++i) {
    if (!send_all(fd, piece)) return false;
  }
  return true;
}

class RequestParser {
 public:
  explicit RequestParser(int fd) : fd_(fd) {}

  // Nothing where the connection ended or what came is not HTTP.
  std::optional<ReceivedRequest> next() {
    ReceivedRequest request;
    const auto first = line();
    if (!first) return std::nullopt;
    const auto method_end = first->find(' ');
    const auto target_end = first->rfind(' ');
    if (method_end == std::string::npos || target_end <= method_end) return std::nullopt;
    request.method = first->substr(0, method_end);
    request.target = first->substr(method_end + 1, target_end - method_end - 1);
    for (auto header = line(); true; header = line()) {
      if (!header) return std::nullopt;
      if (header->empty()) break;
      const auto colon = header->find(':');
      if (colon == std::string::npos) return std::nullopt;
      const auto value = header->find_first_not_of(' ', colon + 1);
      request.headers.emplace_back(lower_case(header->substr(0, colon)),
                                   value == std::string::npos ? "" : header->substr(value));
    }
    if (request.header("expect") == "100-continue") send_all(fd_, "HTTP/1.1 100 Continue\r\n\r\n");
    if (!read_body(request)) return std::nullopt;
    return request;
  }

 private:
  bool read_body(ReceivedRequest& request) {
    if (request.header("transfer-encoding") != "chunked") {
      const auto length =
          std::strtoull(std::string(request.header("content-length")).c_str(), nullptr, 10);
      return take(request.body, length);
    }
    while (true) {
      const auto size_line = line();
      if (!size_line) return false;
      const auto size = std::strtoull(size_line->c_str(), nullptr, 16);
      if (size > 0 && !take(request.body, size)) return false;
      const auto end = line();
      if (!end) return false;
      if (size == 0) return true;
    }
  }

  bool fill() {
    std::array<char, 16384> piece{};
    const ssize_t n = ::recv(fd_, piece.data(), piece.size(), 0);
    if (n <= 0) return false;
    buffer_.append(piece.data(), static_cast<std::size_t>(n));
    constexpr char kTlsHandshake = 0x16;
    if (buffer_.front() == kTlsHandshake) return false;  // It would never send a line end.
    return true;
  }

  std::optional<std::string> line() {
    auto end = buffer_.find("\r\n");
    for (; end == std::string::npos; end = buffer_.find("\r\n")) {
      if (!fill()) return std::nullopt;
    }
    std::string text = buffer_.substr(0, end);
    buffer_.erase(0, end + 2);
    return text;
  }

  bool take(std::string& to, std::size_t bytes) {
    while (buffer_.size() < bytes) {
      if (!fill()) return false;
    }
    to.append(buffer_, 0, bytes);
    buffer_.erase(0, bytes);
    return true;
  }

  int fd_;
  std::string buffer_;
};

bool may_have_body(const Reply& reply) {
  return reply.status >= 200 && reply.status != 204 && reply.status != 304;
}

std::string head_of(const Reply& reply) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Status\r\n";
  for (const auto& [name, value] : reply.headers) head += name + ": " + value + "\r\n";
  if (reply.mode == Reply::Mode::huge) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (reply.mode != Reply::Mode::tunnel && may_have_body(reply)) {
    const auto missing = reply.mode == Reply::Mode::truncate ? reply.amount : 0;
    head += "Content-Length: " + std::to_string(reply.body.size() + missing) + "\r\n";
  }
  return head + "\r\n";
}

bool closes_afterwards(const Reply& reply) {
  return std::any_of(reply.headers.begin(), reply.headers.end(), [](const auto& header) {
    return lower_case(header.first) == "connection" && header.second == "close";
  });
}

// Closing then sends RST instead of FIN.
void close_by_reset(int fd) {
  const linger at_once{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace

std::string_view ReceivedRequest::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

FaultyServer::FaultyServer() {
  open_port();
  accept_again();
}

FaultyServer::~FaultyServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  refuse();
  ::close(listener_);
  for (std::thread& connection : connections_) connection.join();
}

// Binds without listening, so that connecting is refused. SO_REUSEPORT lets the next socket take
// the port before this one gives it up.
void FaultyServer::open_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  sockaddr_in address = loopback(port_);
  socklen_t size = sizeof address;
  if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no port on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  listener_ = fd;
}

void FaultyServer::accept_again() {
  if (acceptor_.joinable()) return;
  if (::listen(listener_, 128) != 0) throw std::runtime_error("can't listen");
  acceptor_ = std::thread([this, listener = listener_] { accept_loop(listener); });
}

void FaultyServer::refuse() {
  if (acceptor_.joinable()) {
    const int old = listener_;
    open_port();
    ::shutdown(old, SHUT_RDWR);  // Wakes accept().
    acceptor_.join();
    ::close(old);
  }
  drop_connections();
}

void FaultyServer::drop_connections() {
  const std::lock_guard lock(mutex_);
  for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
}

void FaultyServer::accept_loop(int listener) {
  while (true) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const std::lock_guard lock(mutex_);
    open_.insert(fd);
    connections_.emplace_back([this, fd, number = accepted_++] { serve(fd, number); });
  }
}

void FaultyServer::serve(int fd, std::size_t connection) {
  RequestParser parser(fd);
  while (auto request = parser.next()) {
    request->connection = connection;
    std::uint64_t releases_before = 0;
    {
      const std::lock_guard lock(mutex_);
      journal_.push_back(*request);
      releases_before = releases_;
      changed_.notify_all();
    }
    if (!answer(fd, *request, choose_reply(*request), releases_before)) break;
  }
  const std::lock_guard lock(mutex_);
  open_.erase(fd);
  ::close(fd);
}

bool FaultyServer::answer(int fd, const ReceivedRequest& request, const Reply& reply,
                          std::uint64_t releases_before) {
  switch (reply.mode) {
    case Reply::Mode::close:
      return false;
    case Reply::Mode::reset:
      close_by_reset(fd);
      return false;
    case Reply::Mode::raw:
      send_all(fd, reply.body);
      return false;
    case Reply::Mode::endless_headers:
      send_all(fd, "HTTP/1.1 200 OK\r\n");
      return send_repeated(fd, "X-Filler: " + std::string(1000, 'x') + "\r\n", UINT64_MAX);
    case Reply::Mode::endless_interim:
      return send_repeated(fd, "HTTP/1.1 100 Continue\r\n\r\n", UINT64_MAX);
    case Reply::Mode::hang:
      if (!wait_for_release(releases_before)) return false;
      break;
    default:
      break;
  }
  if (!send_all(fd, head_of(reply))) return false;
  const bool has_body = request.method != "HEAD" && may_have_body(reply);
  if (has_body && !answer_body(fd, reply, releases_before)) return false;
  return !closes_afterwards(reply);
}

bool FaultyServer::answer_body(int fd, const Reply& reply, std::uint64_t releases_before) {
  switch (reply.mode) {
    case Reply::Mode::hang_after_headers:
      return wait_for_release(releases_before) && send_all(fd, reply.body);
    case Reply::Mode::drip:
      for (const char& byte : reply.body) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::milliseconds(reply.amount), [&] { return stopping_; });
        lock.unlock();
        if (!send_all(fd, {&byte, 1})) return false;
      }
      return true;
    case Reply::Mode::huge: {
      const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
      const std::uint64_t rest = reply.amount % 0x10000;
      if (!send_repeated(fd, chunk, reply.amount / 0x10000)) return false;
      std::string end = "0\r\n\r\n";
      std::array<char, 16> digits{};
      std::snprintf(digits.data(), digits.size(), "%x\r\n", static_cast<unsigned>(rest));
      if (rest > 0) end = digits.data() + std::string(rest, 'x') + "\r\n" + end;
      return send_all(fd, end);
    }
    case Reply::Mode::reset_after_headers:
      send_all(fd, std::string_view(reply.body).substr(0, reply.body.size() / 2));
      close_by_reset(fd);
      return false;
    case Reply::Mode::truncate:
      send_all(fd, reply.body);
      return false;
    case Reply::Mode::tunnel:
      tunnel(fd, static_cast<std::uint16_t>(reply.amount));
      return false;
    default:
      return send_all(fd, reply.body);
  }
}

// Counted from the entry in the journal, so that a test may release as soon as it sees the request.
bool FaultyServer::wait_for_release(std::uint64_t releases_before) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || releases_ != releases_before; });
  return !stopping_;
}

void FaultyServer::tunnel(int fd, std::uint16_t port) {
  const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(other, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    std::array<pollfd, 2> ends{{{fd, POLLIN, 0}, {other, POLLIN, 0}}};
    std::array<char, 16384> piece{};
    for (bool open = true; open && ::poll(ends.data(), ends.size(), -1) > 0;) {
      for (std::size_t i = 0; i < ends.size() && open; ++i) {
        if (ends[i].revents == 0) continue;
        const ssize_t n = ::recv(ends[i].fd, piece.data(), piece.size(), 0);
        open = n > 0 && send_all(ends[1 - i].fd, {piece.data(), static_cast<std::size_t>(n)});
      }
    }
  }
  ::close(other);
}

Reply FaultyServer::choose_reply(const ReceivedRequest& request) {
  std::function<Reply(const ReceivedRequest&)> choose;
  {
    const std::lock_guard lock(mutex_);
    if (!once_.empty()) {
      Reply reply = std::move(once_.front());
      once_.pop_front();
      return reply;
    }
    if (!choose_) {
      const auto found = by_path_.find(request.path());
      return found == by_path_.end() ? standing_ : found->second;
    }
    choose = choose_;
  }
  return choose(request);  // Unlocked: it may look at the journal.
}

std::string FaultyServer::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

void FaultyServer::reply_with(Reply reply) {
  const std::lock_guard lock(mutex_);
  standing_ = std::move(reply);
}

void FaultyServer::reply_once(Reply reply) {
  const std::lock_guard lock(mutex_);
  once_.push_back(std::move(reply));
}

void FaultyServer::on(std::string path, Reply reply) {
  const std::lock_guard lock(mutex_);
  by_path_[std::move(path)] = std::move(reply);
}

void FaultyServer::reply_by(std::function<Reply(const ReceivedRequest&)> choose) {
  const std::lock_guard lock(mutex_);
  choose_ = std::move(choose);
}

std::vector<ReceivedRequest> FaultyServer::requests() const {
  const std::lock_guard lock(mutex_);
  return journal_;
}

std::size_t FaultyServer::connections() const {
  const std::lock_guard lock(mutex_);
  return accepted_;
}

bool FaultyServer::wait_for_requests(std::size_t count, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return journal_.size() >= count; });
}

void FaultyServer::release() {
  const std::lock_guard lock(mutex_);
  ++releases_;
  changed_.notify_all();
}

}  // namespace outcomed::testing
