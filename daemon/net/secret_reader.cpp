#include "daemon/net/secret_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace outcomed {
namespace {

constexpr std::size_t kMaxSecretBytes = 64 * 1024;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Error unreadable(int code) {
  return {ErrorKind::invalid, "can't be read: " + std::generic_category().message(code)};
}

Error refused(std::string reason) { return {ErrorKind::invalid, std::move(reason)}; }

Status check_secret_file(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) return refused("is not a regular file; name the file itself");
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return refused(fmt::format("belongs to user {}; it must belong to root or to the daemon's user",
                               info.st_uid));
  }
  const mode_t allowed = info.st_uid == 0 ? 0740 : 0700;
  if ((info.st_mode & 0777 & ~allowed) != 0) {
    return refused(fmt::format("has mode {:04o}, which lets others use it; run `chmod {} {}`",
                               info.st_mode & 0777, info.st_uid == 0 ? "0640" : "0600", path));
  }
  return ok();
}

Result<std::string> read_secret_file(const std::string& path) {
  // O_NONBLOCK: a pipe must not hang us before its kind is known.
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    if (errno == ELOOP) return refused("is a symbolic link; name the file itself");
    return unreadable(errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return unreadable(errno);
  if (auto fit = check_secret_file(info, path); !fit) return std::move(fit).error();

  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() <= kMaxSecretBytes) {
    const ssize_t n = ::read(file.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(errno);
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return refused("is larger than 64 KiB, too large for a secret");
}

Secret trimmed(const std::string& text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return Secret(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());  // NOLINT: nobody calls setenv
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

Result<std::string> FileSecretReader::text_of(const SecretRef& ref) const {
  if (ref.kind == SecretRef::Kind::file) return read_secret_file(ref.name);
  if (ref.kind == SecretRef::Kind::cred) {
    if (ref.name.find('/') != std::string::npos || ref.name == "." || ref.name == "..") {
      return refused("is not a credential's name: it must be a bare file name");
    }
    const auto directory = environment_("CREDENTIALS_DIRECTORY");
    if (!directory || directory->empty()) {
      return refused(fmt::format(
          "$CREDENTIALS_DIRECTORY is not set; add `LoadCredential={}:/path` to the systemd unit",
          ref.name));
    }
    return read_secret_file(*directory + "/" + ref.name);
  }
  if (ref.kind == SecretRef::Kind::env) {
    if (auto value = environment_(ref.name)) return *std::move(value);
    return refused("the environment variable is not set");
  }
  return refused("no secret is named");
}

Result<Secret> FileSecretReader::read(const SecretRef& ref) {
  if (ref.kind == SecretRef::Kind::literal) return Secret(ref.name);
  auto text = text_of(ref);
  if (!text) return std::move(text).error().while_doing("secret " + ref.to_string());
  Secret secret = trimmed(*text);
  if (secret.empty()) return refused("is empty").while_doing("secret " + ref.to_string());
  return secret;
}

}  // namespace outcomed
