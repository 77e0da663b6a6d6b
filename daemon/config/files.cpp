#include "daemon/config/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "daemon/config/yaml_tree.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartMark = "--- # file: ";
constexpr std::size_t kMaxRuleFiles = 256;

std::string errno_text() { return std::generic_category().message(errno); }

// Owns a descriptor for the length of a read.
class OpenFile {
 public:
  explicit OpenFile(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

bool is_ignored_suffix(const fs::path& path) {
  const std::string suffix = path.extension().string();
  return suffix == ".yml" || suffix == ".YAML" || suffix == ".YML" || suffix == ".json";
}

// rules.d/*.yaml in the order of their names.
std::vector<fs::path> rule_files(const fs::path& folder, ConfigFiles& out) {
  std::vector<fs::path> paths;
  ProblemSink problems(folder.string(), out.problems);
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return paths;
  if (status.type() != fs::file_type::directory) {
    problems.add({}, "", "is not a folder", "make it one, or remove it");
    return paths;
  }
  fs::directory_iterator next(folder, error);
  for (; !error && next != fs::directory_iterator(); next.increment(error)) {
    const fs::path& path = next->path();
    std::error_code ignored;
    if (path.filename().string().starts_with('.') || fs::is_directory(path, ignored)) continue;
    if (path.extension() == ".yaml") paths.push_back(path);
    if (is_ignored_suffix(path)) {
      ProblemSink(path.string(), out.notes)
          .add({}, "", "the file is not read", "name it " + path.stem().string() + ".yaml");
    }
  }
  if (error) problems.add({}, "", "can't be read: " + error.message());
  std::ranges::sort(paths);
  if (paths.size() > kMaxRuleFiles) {
    problems.add({}, "", fmt::format("holds more than {} files", kMaxRuleFiles), "join some");
    paths.resize(kMaxRuleFiles);
  }
  return paths;
}

}  // namespace

Result<std::string> read_config_text(const fs::path& path) {
  const OpenFile file(path);
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    return Error{ErrorKind::invalid, "can't be read: " + errno_text()};
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorKind::invalid, "is not a regular file; name a file"};
  }
  const auto too_large = [] {
    return Error{ErrorKind::too_large,
                 "the file is larger than 1MiB; split it (rules.d/) or shorten it"};
  };
  if (info.st_size > static_cast<off_t>(kMaxConfigBytes)) return too_large();
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{ErrorKind::invalid, "can't be read: " + errno_text()};
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxConfigBytes) return too_large();
  }
}

ConfigFiles read_config_files(const fs::path& path) {
  ConfigFiles out;
  ProblemSink problems(path.string(), out.problems);
  Result<std::string> main = read_config_text(path);
  if (!main) {
    std::string message = main.error().message;
    if (message.find(';') == std::string::npos) {
      message += "; write the file, or name another with --config";
    }
    problems.add({}, "", Error{ErrorKind::invalid, std::move(message)});
    return out;
  }
  out.files.push_back({path.string(), *std::move(main)});
  for (const fs::path& rules : rule_files(path.parent_path() / "rules.d", out)) {
    Result<std::string> text = read_config_text(rules);
    if (text) {
      out.files.push_back({rules.string(), *std::move(text)});
    } else {
      ProblemSink(rules.string(), out.problems).add({}, "", text.error());
    }
  }
  return out;
}

std::string join_config_text(const std::vector<ConfigFile>& files) {
  std::string text;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i > 0) {
      if (text.empty() || text.back() != '\n') text += '\n';
      const std::string name = files[i].name == kBuiltInRules
                                   ? files[i].name
                                   : "rules.d/" + fs::path(files[i].name).filename().string();
      text += std::string(kPartMark) + name + '\n';
    }
    text += files[i].text;
  }
  return text;
}

std::vector<ConfigFile> split_config_text(std::string_view text, const std::string& main_name) {
  std::vector<ConfigFile> files = {{main_name, ""}};
  const fs::path folder = fs::path(main_name).parent_path();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (at > 0 && line.starts_with(kPartMark)) {
      const std::string name(line.substr(kPartMark.size()));
      files.push_back({name == kBuiltInRules ? name : (folder / name).string(), ""});
    } else {
      files.back().text += text.substr(at, end + 1 - at);
    }
    at = end + 1;
  }
  return files;
}

}  // namespace outcomed
