#include "daemon/commands/episode_table.h"

#include <fmt/core.h>

#include <ostream>

#include "daemon/commands/table.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

std::string lasted(const Episode& episode) {
  return episode.resolved_at ? format_duration(*episode.resolved_at - episode.fired_at) : "open";
}

}  // namespace

void print_episodes(std::ostream& out, const std::vector<Episode>& episodes, bool with_id) {
  std::vector<std::string> headings = {"FIRED (UTC)", "LASTED", "SEVERITY", "RULE",
                                       "GROUP",       ">K",     ">N",       ">SHARE"};
  if (with_id) headings.push_back("EPISODE");
  Table table(std::move(headings));
  for (const Episode& episode : episodes) {
    table.row({short_time(format_rfc3339(episode.fired_at)), lasted(episode), episode.key.severity,
               episode.key.rule, episode.key.group.to_string(),
               format_amount(episode.facts, "k", episode.k),
               format_amount(episode.facts, "n", episode.n), format_share(episode.measured),
               episode.id});
  }
  table.print(out);
}

void print_episodes_csv(std::ostream& out, const std::vector<Episode>& episodes) {
  out << csv_line({"id", "rule", "labels", "severity", "onset", "pending_at", "fired_at",
                   "resolved_at", "k", "n", "measured", "threshold", "sentence"});
  for (const Episode& e : episodes) {
    out << csv_line({e.id, e.key.rule, e.key.group.to_string(), e.key.severity,
                     format_rfc3339(e.onset), format_rfc3339(e.pending_at),
                     format_rfc3339(e.fired_at),
                     e.resolved_at ? format_rfc3339(*e.resolved_at) : "", fmt::format("{}", e.k),
                     fmt::format("{}", e.n), fmt::format("{:.6g}", e.measured),
                     fmt::format("{:g}", e.threshold), e.sentence});
  }
}

}  // namespace outcomed
