// Runs a server of tests/peers.sh beside a test, on a free port of 127.0.0.1, with a folder of its
// own that goes away with it.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/plain_http_client.h"

namespace outcomed::testing {

inline std::filesystem::path peers_folder() {
  const char* set = std::getenv("OUTCOMED_PEERS");
  return set != nullptr ? std::filesystem::path(set)
                        : std::filesystem::path(OUTCOMED_SOURCE_DIR) / "build" / "peers";
}
// Empty where the program is there, else what to do about it.
inline std::string missing_peer(const std::string& program) {
  const auto path = peers_folder() / "bin" / program;
  if (std::filesystem::exists(path)) return {};
  return path.string() + " is missing: run tests/peers.sh (or set OUTCOMED_PEERS to its folder)";
}

// A folder for servers' data, removed at the end.
class PeerFolder {
 public:
  PeerFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "outcomed-peer-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~PeerFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PeerFolder(const PeerFolder&) = delete;
  PeerFolder& operator=(const PeerFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

inline int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(fd);
  return bound ? ntohs(address.sin_port) : 0;
}

// A child process that is ended, by its own id, with this object.
class ChildProcess {
 public:
  ChildProcess(const std::vector<std::string>& words, const std::filesystem::path& log) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  ~ChildProcess() {
    if (pid_ <= 0 || reaped_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Exit status; -1 for an end by signal.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool running() {
    if (!reaped_ && waitpid(pid_, nullptr, WNOHANG) == pid_) reaped_ = true;
    return !reaped_;
  }

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
};

// Waits until `condition` holds; false after the limit.
template <class Condition>
bool wait_until(Condition condition, std::chrono::seconds limit = std::chrono::seconds(30)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(nullptr, 0, 10);
  }
  return true;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A server that is up when its health page answers 200. `{port}` and `{folder}` in the words stand
// for its port and its folder.
class PeerServer {
 public:
  PeerServer(const std::string& program, std::vector<std::string> words,
             const std::string& health) {
    words.insert(words.begin(), (peers_folder() / "bin" / program).string());
    for (std::string& word : words) {
      replace(word, "{port}", std::to_string(port_));
      replace(word, "{folder}", folder_.path().string());
    }
    child_ = std::make_unique<ChildProcess>(words, log());
    up_ = wait_until([&] { return !child_->running() || get(health).status == 200; }) &&
          child_->running();
  }
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::filesystem::path log() const { return folder_.path() / "log"; }
  [[nodiscard]] std::string log_text() const { return read_file(log()); }

  HttpResponse get(const std::string& path) { return send("GET", path, "", {}); }
  HttpResponse send(const std::string& method, const std::string& path, const std::string& body,
                    std::vector<std::pair<std::string, std::string>> headers) {
    HttpRequest request;
    request.method = method;
    request.url = url() + path;
    request.body = body;
    request.headers = std::move(headers);
    request.max_bytes = std::int64_t{1} << 30;
    auto response = PlainHttpClient().send(request);
    return response ? *std::move(response) : HttpResponse{};
  }

 private:
  static void replace(std::string& text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what)) {
      text.replace(at, what.size(), by);
    }
  }

  PeerFolder folder_;
  int port_ = free_port();
  std::unique_ptr<ChildProcess> child_;
  bool up_ = false;
};

}  // namespace outcomed::testing
