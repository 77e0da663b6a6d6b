// Which single events led to an alert, as far as its source names them.
#include <algorithm>
#include <iterator>

#include "daemon/engine/engine_impl.h"

namespace outcomed {

void Engine::Impl::keep_evidence(Unit& unit, std::vector<Evidence> fresh) {
  constexpr std::size_t kMost = 200;
  std::vector<Evidence>& kept = unit.evidence;
  kept.insert(kept.end(), std::make_move_iterator(fresh.begin()),
              std::make_move_iterator(fresh.end()));
  if (kept.size() > kMost) {
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(kMost));
  }
}

// An alert that fires names the first events of its group since the onset.
void Engine::Impl::add_evidence(const Unit& unit, const RuleSpec& rule, RuleEvent& event) {
  constexpr int kMost = 5;
  if (event.transition.change != Change::fired) return;
  int named = 0;
  for (const Evidence& of : unit.evidence) {
    if (named == kMost) break;
    if (unit.spec.plans[of.signal].name != rule.signal || of.at < event.verdict->onset) continue;
    const bool fits = std::ranges::all_of(rule.by, [&](const std::string& label) {
      return of.labels.get(label) == event.state.key.group.get(label);
    });
    if (!fits) continue;
    event.verdict->facts.emplace_back(of.name, of.text);
    ++named;
  }
}

}  // namespace outcomed
