// What the bench runs: something that sees one minute after the other and pages or doesn't.
#pragma once

#include <cstdint>
#include <memory>

#include "scenarios.h"

namespace outcomed::bench {

class Watch {
 public:
  virtual ~Watch() = default;
  // One minute, k of n failed. True while it pages.
  virtual bool minute(std::int64_t n, std::int64_t k) = 0;
  // Another one that knows the same.
  [[nodiscard]] virtual std::unique_ptr<Watch> copy() const = 0;
};

struct Pages {
  int count = 0;          // Pages that began.
  int first = -1;         // The minute of the first.
  int quiet_minutes = 0;  // In which it did not page.
};

// All minutes; or up to the first page that begins.
Pages watch_all(Watch& watch, const Counts& counts);
Pages watch_to_page(Watch& watch, const Counts& counts);

}  // namespace outcomed::bench
