#pragma once

#include <string>
#include <vector>

namespace outcomed::testing {

// The lines of a gzip file; none where it can't be read.
std::vector<std::string> read_gzip_lines(const std::string& path);

}  // namespace outcomed::testing
