// Episodes as the API, `history` and `backtest` show them: the same fields everywhere.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "alerts/alert.h"
#include "alerts/outbox.h"
#include "queries/source.h"

namespace outcomed {

// {"id", "rule", "labels", "severity", "onset", "pending_at", "fired_at", "resolved_at", "k", "n",
//  "measured", "threshold", "sentence", …}
std::string episode_json(const Episode& episode, std::span<const OutboxRow> deliveries);
// {"status": "success", "episodes": […]}
std::string episodes_json(const std::vector<Episode>& episodes);
// {"from", "to", "buckets", "problems": […], "episodes": […]}
std::string backtest_json(TimeRange range, std::uint64_t buckets,
                          const std::vector<Problem>& problems,
                          const std::vector<Episode>& episodes);
// The deliveries of what episode_json wrote: receiver, status, state, attempts, times, answer.
Result<std::vector<OutboxRow>> deliveries_from_json(std::string_view text);
// Reads what episodes_json wrote (the answer of a running daemon).
Result<std::vector<Episode>> episodes_from_json(std::string_view text);

}  // namespace outcomed
