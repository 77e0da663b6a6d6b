// Runs the programs that real-part tests need (promtool, Alertmanager, …), which tests/peers.sh
// fetches.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace outcomed::testing {

// Nothing where the peers have not been fetched.
inline std::optional<std::string> peer(const std::string& program) {
  const char* folder = std::getenv("OUTCOMED_PEERS");
  const std::string base = folder != nullptr && *folder != '\0'
                               ? std::string(folder)
                               : std::string(OUTCOMED_SOURCE_DIR) + "/build/peers";
  const std::string path = base + "/bin/" + program;
  if (::access(path.c_str(), X_OK) == 0) return path;
  return std::nullopt;
}

#define OUTCOMED_NEED_PEER(variable, program)               \
  const auto variable = ::outcomed::testing::peer(program); \
  if (!variable) GTEST_SKIP() << program << " is missing: run tests/peers.sh first"

// A folder that is removed with its object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "outcomed.XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

// A child whose standard output and error go to a file. Killed with its object.
class PeerProcess {
 public:
  PeerProcess(const std::vector<std::string>& command, const std::string& output) {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~PeerProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // The exit status; −1 when it could not be started or was killed.
  int wait() {
    if (pid_ <= 0) return -1;
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

struct Finished {
  int status = -1;
  std::string output;
};

inline Finished run_peer(const std::vector<std::string>& command) {
  const ScratchFolder folder;
  PeerProcess process(command, folder.path("output"));
  Finished finished;
  finished.status = process.wait();
  finished.output = folder.read("output");
  return finished;
}

}  // namespace outcomed::testing
