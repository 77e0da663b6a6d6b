#include "queries/base/result.h"

namespace outcomed {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid:
      return "invalid";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::rejected:
      return "rejected";
    case ErrorKind::unauthorized:
      return "unauthorized";
    case ErrorKind::throttled:
      return "throttled";
    case ErrorKind::corrupt:
      return "corrupt";
    case ErrorKind::too_large:
      return "too_large";
    case ErrorKind::partial:
      return "partial";
    case ErrorKind::unsupported:
      return "unsupported";
  }
  return "invalid";
}

}  // namespace outcomed
