#include "daemon/config/last_good.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace outcomed {
namespace {

Error failed(const std::string& what, const std::filesystem::path& path) {
  return {ErrorKind::unavailable,
          fmt::format("{} {}: {}", what, path.string(), std::strerror(errno))};
}

Status write_all(int file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("can't write", path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file) != 0) return failed("can't write", path);
  return ok();
}

}  // namespace

LastGood::LastGood(const std::filesystem::path& folder)
    : path_(folder.empty() ? folder : folder / "last-good.yaml") {}

Status LastGood::keep(const std::string& text) const {
  if (path_.empty() || read() == text) return ok();
  std::filesystem::path fresh = path_;
  fresh += ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return failed("can't open", fresh);
  Status written = write_all(file, text, fresh);
  ::close(file);
  if (!written) return written;
  if (::rename(fresh.c_str(), path_.c_str()) != 0) return failed("can't replace", path_);
  return ok();
}

std::optional<std::string> LastGood::read() const {
  if (path_.empty()) return std::nullopt;
  std::ifstream in(path_, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace outcomed
