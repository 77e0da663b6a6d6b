#include "watch.h"

namespace outcomed::bench {
namespace {

Pages run(Watch& watch, const Counts& counts, bool to_page) {
  Pages pages;
  bool paged = false;
  for (int i = 0; i < counts.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool before = paged;
    paged = watch.minute(counts.n[at], counts.k[at]);
    if (!paged || !before) ++pages.quiet_minutes;
    if (before || !paged) continue;
    if (pages.count++ == 0) pages.first = i;
    if (to_page) break;
  }
  return pages;
}

}  // namespace

Pages watch_all(Watch& watch, const Counts& counts) { return run(watch, counts, false); }
Pages watch_to_page(Watch& watch, const Counts& counts) { return run(watch, counts, true); }

}  // namespace outcomed::bench
