#include "queries/recording/file_pieces.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace outcomed {
namespace {

constexpr unsigned kPieceBytes = 256 * 1024;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using GzipFile = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGzip>;

Error system_error(std::string_view what) {
  return {ErrorKind::invalid, fmt::format("{}: {}", what, std::strerror(errno))};
}

}  // namespace

Status read_pieces(const std::string& path, const std::function<Status(std::string_view)>& take) {
  // O_NONBLOCK: opening a FIFO must not hang.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error("can't open");
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return Error{ErrorKind::invalid, "not a regular file"};
  }
  const GzipFile file(gzdopen(fd, "rb"));
  if (file == nullptr) {
    close(fd);
    return Error{ErrorKind::invalid, "out of memory"};
  }
  gzbuffer(file.get(), kPieceBytes);
  std::string buffer(kPieceBytes, '\0');
  while (true) {
    const int got = gzread(file.get(), buffer.data(), kPieceBytes);
    int code = Z_OK;
    const char* text = gzerror(file.get(), &code);
    // A cut-off stream yields its last bytes first, then Z_BUF_ERROR.
    if (got < 0 || code == Z_BUF_ERROR) {
      if (code == Z_ERRNO) return system_error("can't read");
      return Error{ErrorKind::corrupt, fmt::format("damaged gzip: {}", text)};
    }
    if (got == 0) return ok();
    Status status = take({buffer.data(), static_cast<std::size_t>(got)});
    if (!status) return status;
  }
}

}  // namespace outcomed
