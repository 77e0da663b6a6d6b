#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/time.h"

namespace outcomed {

// `healthy` and `breached` are judgements about the outcome. `lingering` lies between the line that
// starts an alert and the lower one that ends it (resolve_below): it keeps what fires and starts
// nothing. The others say that there is no judgement: they hold the phase.
enum class Judgement : std::uint8_t {
  healthy,
  breached,
  lingering,
  too_few,
  no_data,
  partial,
  failed,
};

std::string_view to_string(Judgement judgement);

// What a detector says about one group at the end of one bucket, in full; made on demand.
struct Verdict {
  Judgement judgement = Judgement::no_data;
  Timestamp at;     // End of the bucket judged last.
  Timestamp onset;  // Start of the first bucket that belongs to the change, as far as can be told.
  std::int64_t n = 0;
  std::int64_t k = 0;
  double measured = 0;   // A share, or a ratio to what is normal or allowed.
  double threshold = 0;  // What it was held against.
  double low = 0;        // 95 % interval of `measured`.
  double high = 0;
  std::string sentence;                                    // One sentence, complete in itself.
  std::vector<std::pair<std::string, std::string>> facts;  // Name and value with unit, in order.
};

// Adds the fact "since", where a change began at all.
void add_since(Verdict& verdict);

}  // namespace outcomed
