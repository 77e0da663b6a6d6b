// Long ranges are read in pieces that the server can answer in time.
#pragma once

#include <algorithm>
#include <functional>

#include "queries/base/result.h"
#include "queries/base/time.h"

namespace outcomed {

class SqlPieces {
 public:
  static constexpr Duration kFirst = std::chrono::hours(24);

  // Calls `read` for consecutive pieces of `range`, each whole steps long. A piece that takes too
  // long or holds too much is halved, down to one step; the next ones grow again. The length that
  // worked is kept for the next call.
  Status read(TimeRange range, Duration step, const std::function<Status(TimeRange)>& read_piece) {
    Timestamp at = range.begin;
    while (at < range.end) {
      const Duration length = std::max(step, length_ / step * step);
      const TimeRange piece{at, std::min(range.end, at + length)};
      Status status = read_piece(piece);
      if (status) {
        at = piece.end;
        if (piece.length() == length) length_ = std::min(kLongest, length * 2);
        continue;
      }
      const ErrorKind kind = status.error().kind;
      const bool smaller = kind == ErrorKind::timeout || kind == ErrorKind::too_large;
      if (!smaller || piece.length() <= step) return status;
      length_ = std::max(step, piece.length() / 2);
    }
    return ok();
  }

 private:
  static constexpr Duration kLongest = std::chrono::hours(24 * 32);
  Duration length_ = kFirst;
};

}  // namespace outcomed
