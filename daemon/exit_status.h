// How a command ends: sysexits.h where it has a word for it.
#pragma once

namespace outcomed {

enum class ExitStatus : int {
  ok = 0,
  found = 1,         // It ran and found something to report.
  usage = 2,         // Wrong usage.
  unavailable = 69,  // A source or receiver can't be reached.
  io = 74,           // The store can't be read or written.
  config = 78,       // The configuration is wrong.
};

}  // namespace outcomed
