#include "queries/counters/series.h"

#include <algorithm>

namespace outcomed {
namespace {

// A series remembers where it stood in this many processes behind one target.
constexpr std::size_t kMaxStands = 16;
// Clocks of gateway and Prometheus may differ by this much before a creation time is doubted.
constexpr std::int64_t kClockSlack = 5'000;

Stand* find_stand(SeriesMemory& memory, std::uint32_t process) {
  for (auto it = memory.stands.rbegin(); it != memory.stands.rend(); ++it) {
    if (it->process == process) return &*it;
  }
  return nullptr;
}

// Processes without a start time are only inferred from counters that fell, perhaps a few scrapes
// late. A series that went on without a fall and without missing a scrape was not restarted, as far
// as it can tell: it keeps its stand.
Stand* carry_over(SeriesMemory& memory, const Target& target, const Sample& sample,
                  std::uint32_t process) {
  const Process* found = target.process(process);
  if (memory.stands.empty() || found == nullptr || found->start != 0) return nullptr;
  Stand& last = *std::ranges::max_element(memory.stands, {}, &Stand::at);
  last.process = process;
  if (target.scrape_before(sample.at_ms) != last.at) last.value = 0;  // Absent, then back: anew.
  return &last;
}

}  // namespace

StandFound stand_in(std::uint32_t process, const Sample& sample, const Target& target,
                    SeriesMemory& memory) {
  Stand* stand = find_stand(memory, process);
  if (stand == nullptr) stand = carry_over(memory, target, sample, process);
  if (stand != nullptr) return {stand, false};
  if (memory.stands.size() == kMaxStands) memory.stands.erase(memory.stands.begin());
  memory.stands.push_back({process, sample.at_ms, sample.value});
  return {&memory.stands.back(), true};
}

Birth judge_birth(const FirstSight& sight, const Target& target, const BirthEvidence& evidence) {
  const Process* process = target.process(sight.process);
  const std::int64_t seen_before = target.scrape_before(sight.at, sight.process);
  if (process != nullptr && seen_before != 0) {
    // The process was scraped before and the series was not there.
    if (evidence.created && *evidence.created * 1000 < double(seen_before - kClockSlack)) {
      return Birth::unknown;  // It existed before under other labels (relabelled).
    }
    if (sight.at - seen_before > evidence.limit.count()) return Birth::too_long;
    return evidence.created ? Birth::proved : Birth::assumed;
  }
  const std::int64_t target_before = target.scrape_before(sight.at);
  const std::int64_t watched_since =
      target_before != 0 ? target.first_seen() : evidence.watch_start;
  const bool restarted = target_before != 0 && process != nullptr && process->start == 0;
  if (restarted) {  // Known only by its falling counters.
    return sight.at - target_before > evidence.limit.count() ? Birth::too_long : Birth::assumed;
  }
  double born = 0;
  if (process != nullptr && process->start > 0) born = process->start * 1000;
  if (evidence.created) born = std::max(born, *evidence.created * 1000);
  if (born == 0 || born < double(watched_since)) return Birth::unknown;
  if (double(sight.at) - born > double(evidence.limit.count())) return Birth::too_long;
  return Birth::proved;
}

}  // namespace outcomed
