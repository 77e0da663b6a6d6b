// A file's content piece by piece, unpacked where it is gzip.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

// Reads a plain or a gzip file (told by its content) front to back in pieces of some 256 KiB.
// Errors: invalid (no such file, not readable, a directory), corrupt (damaged or cut-off gzip), or
// what `take` returned, which ends the reading. Messages don't repeat the path.
Status read_pieces(const std::string& path, const std::function<Status(std::string_view)>& take);

}  // namespace outcomed
