#include "tests/support/gzip_lines.h"

#include <zlib.h>

#include <sstream>

namespace outcomed::testing {
namespace {

std::string read_gzip(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char buffer[65536];
  for (int got = 0; (got = gzread(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  gzclose(file);
  return text;
}

}  // namespace

std::vector<std::string> read_gzip_lines(const std::string& path) {
  std::istringstream text(read_gzip(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace outcomed::testing
