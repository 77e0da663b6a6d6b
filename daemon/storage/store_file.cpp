#include "daemon/storage/store_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace outcomed {
namespace {

constexpr std::array<std::string_view, 4> kFiles = {"", "-wal", "-journal", "-shm"};

Error refuse_file(const std::string& path, std::string_view why) {
  return {ErrorKind::invalid, fmt::format("{}: {}", path, why)};
}

Error system_refusal(const std::string& path, std::string_view task) {
  return refuse_file(path, fmt::format("{}: {}; name a place that we may use in store.sqlite", task,
                                       std::strerror(errno)));
}

struct SplitPath {
  std::string folder;
  std::string file;
};

Result<SplitPath> split_path(const std::string& path) {
  const auto slash = path.rfind('/');
  SplitPath split{slash == std::string::npos ? "." : path.substr(0, slash + 1),
                  slash == std::string::npos ? path : path.substr(slash + 1)};
  const bool usable = !split.file.empty() && split.file != "." && split.file != ".." &&
                      path.find('\0') == std::string::npos;
  if (!usable) return refuse_file(path, "not the name of a file; name one in store.sqlite");
  return split;
}

Status make_folders(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1); end != std::string::npos;
       end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return system_refusal(part, "make the folder");
    }
  }
  return ok();
}

Result<std::string> resolve_folder(const std::string& folder) {
  char resolved[PATH_MAX];
  if (realpath(folder.c_str(), resolved) == nullptr) {
    return system_refusal(folder, "open the folder");
  }
  std::string text(resolved);
  if (text != "/") text += '/';
  return text;
}

Status check_folder(const std::string& folder) {
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return system_refusal(folder, "look at the folder");
  if (!S_ISDIR(info.st_mode)) return refuse_file(folder, "is not a folder");
  // In a sticky folder others can plant files, which the checks of the files notice, but
  // not replace ours.
  if ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return refuse_file(folder, "every user may write to this folder; chmod it to 0700");
  }
  return ok();
}

std::optional<std::string_view> objection(const struct stat& info, bool owner_matters) {
  if (S_ISLNK(info.st_mode)) return "is a symbolic link; name the file itself";
  if (!S_ISREG(info.st_mode)) return "is not a regular file; move it away";
  if (!owner_matters) return std::nullopt;
  if (info.st_nlink > 1) return "has a second name (hard link); remove that or move it away";
  if (geteuid() != 0 && info.st_uid != geteuid()) return "belongs to another user; move it away";
  return std::nullopt;
}

// A missing file is no objection.
Status check_files(const std::string& path, bool owner_matters) {
  for (const std::string_view suffix : kFiles) {
    const std::string file = path + std::string(suffix);
    struct stat info {};
    if (lstat(file.c_str(), &info) != 0) {
      if (errno == ENOENT) continue;
      return system_refusal(file, "look at the file");
    }
    if (const auto why = objection(info, owner_matters)) return refuse_file(file, *why);
  }
  return ok();
}

}  // namespace

Result<std::string> prepare_store_file(const std::string& path) {
  const auto split = split_path(path);
  if (!split) return split.error();
  if (Status made = make_folders(split->folder); !made) return made.error();
  const auto folder = resolve_folder(split->folder);
  if (!folder) return folder.error();
  if (Status fit = check_folder(*folder); !fit) return fit.error();
  std::string file = *folder + split->file;
  if (Status fit = check_files(file, true); !fit) return fit.error();
  // SQLite would make it readable for others, and its log takes the mode from it. An existing file
  // is not opened here: closing it would drop this process's locks on it.
  const int made = ::open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0 && errno != EEXIST) return system_refusal(file, "make the file");
  if (made >= 0) ::close(made);
  return file;
}

Result<std::string> find_store_file(const std::string& path) {
  const auto split = split_path(path);
  if (!split) return split.error();
  const auto folder = resolve_folder(split->folder);
  if (!folder) return folder.error();
  std::string file = *folder + split->file;
  if (access(file.c_str(), F_OK) != 0) {
    return refuse_file(
        file, fmt::format("{}; name the daemon's file (store.sqlite)", std::strerror(errno)));
  }
  if (Status fit = check_files(file, false); !fit) return fit.error();
  return file;
}

bool is_frozen_store_file(const std::string& file) {
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0) return false;
  struct stat log {};
  if (stat((file + "-wal").c_str(), &log) == 0 && log.st_size > 0) return false;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock held {};  // Of the whole file: SQLite's locks lie far behind its end.
  held.l_type = F_RDLCK;
  held.l_whence = SEEK_SET;
  const bool is_free = fcntl(fd, F_GETLK, &held) == 0 && held.l_type == F_UNLCK;
  ::close(fd);
  return is_free;
}

}  // namespace outcomed
