#include "detectors/verdict.h"

namespace outcomed {

std::string_view to_string(Judgement judgement) {
  switch (judgement) {
    case Judgement::healthy:
      return "healthy";
    case Judgement::breached:
      return "breached";
    case Judgement::lingering:
      return "lingering";
    case Judgement::too_few:
      return "too_few";
    case Judgement::no_data:
      return "no_data";
    case Judgement::partial:
      return "partial";
    case Judgement::failed:
      return "failed";
  }
  return "failed";
}

void add_since(Verdict& verdict) {
  if (verdict.onset == Timestamp{}) return;
  verdict.facts.emplace_back("since", format_rfc3339(verdict.onset));
}

}  // namespace outcomed
