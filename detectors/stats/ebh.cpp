#include "detectors/stats/ebh.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace outcomed {

Discoveries e_bh(std::vector<double>& e, double alpha) {
  std::sort(e.begin(), e.end(), std::greater<>());
  const auto all = static_cast<double>(e.size());
  for (std::size_t r = e.size(); r > 0; --r) {
    if (e[r - 1] >= all / (alpha * double(r))) return {r, e[r - 1]};
  }
  return {0, std::numeric_limits<double>::infinity()};
}

}  // namespace outcomed
