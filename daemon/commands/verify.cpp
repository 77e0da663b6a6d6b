#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "daemon/commands/absorption_data.h"
#include "daemon/commands/absorption_json.h"
#include "daemon/commands/table.h"
#include "detectors/absorption/wording.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

enum class Proof { held, leaked, unproved };

std::string_view word(Proof proof) {
  return proof == Proof::held ? "held" : proof == Proof::leaked ? "leaked" : "unproved";
}

bool absorbed_somewhere(const AbsorptionRow& row) {
  return row.verdict == SpanVerdict::absorbed ||
         (row.span.unknown == Duration::zero() &&
          std::ranges::any_of(row.parts, [](const AbsorptionPart& part) {
            return part.judgement.outcome == AbsorptionOutcome::absorbed;
          }));
}

bool has(const AbsorptionRow& row, SpanVerdict verdict, AbsorptionOutcome outcome) {
  return row.verdict == verdict || std::ranges::any_of(row.parts, [&](const AbsorptionPart& part) {
           return part.judgement.outcome == outcome;
         });
}

// The verdict of a row is that of its worst model. A fix is held against what happened to any of
// them, so here an hour counts for each kind of failure that some model had in it.
AbsorptionTotals totals_of_any_model(const std::vector<AbsorptionRow>& rows) {
  AbsorptionTotals totals = totals_of(rows);
  totals.leaking_hours = std::ranges::count_if(rows, [](const AbsorptionRow& row) {
    return has(row, SpanVerdict::leaking, AbsorptionOutcome::leaking);
  });
  totals.self_inflicted_hours = std::ranges::count_if(rows, [](const AbsorptionRow& row) {
    return has(row, SpanVerdict::self_inflicted, AbsorptionOutcome::self_inflicted);
  });
  return totals;
}

// A fix has leaked where provider failures reached consumers, or where the gateway by itself failed
// them; it has held where neither happened and a whole hour of a failing provider was absorbed.
Proof proof_of(const AbsorptionData& data, const AbsorptionTotals& totals) {
  if (totals.leaking_hours + totals.self_inflicted_hours > 0) return Proof::leaked;
  return std::ranges::any_of(data.rows, absorbed_somewhere) ? Proof::held : Proof::unproved;
}

std::string verify_sentence(const AbsorptionData& data, const AbsorptionTotals& t, Proof proof) {
  const std::string since = fmt::format("since {}", format_rfc3339(data.range.begin));
  const SideCounts& under = t.under_failure;
  std::string text;
  if (t.provider_failure_hours == 0) {
    text = fmt::format("no provider failure {} yet: nothing is proved", since);
    if (t.counts.provider_failures > 0 || proof == Proof::leaked) {
      text = fmt::format("{} with a failing provider {} ({} attempts failed in all){}",
                         count_rows(0, data.row), since,
                         part_of(t.counts.provider_failures, t.counts.attempts),
                         proof == Proof::leaked ? ", but" : ": nothing is proved");
    }
  } else {
    text = fmt::format(
        "{} with provider failures {}: {} attempts failed, and {} requests of the same models; in "
        "{} of them no consumer request failed",
        count_rows(t.provider_failure_hours, data.row), since,
        part_of(under.provider_failures, under.attempts),
        part_of(under.consumer_failures, under.requests),
        part_of(t.failure_free_provider_failure_hours, t.provider_failure_hours));
  }
  if (proof == Proof::leaked) {
    text += fmt::format("{} leaking {}, self-inflicted {}: the fix does not hold",
                        t.provider_failure_hours == 0 ? "" : ";", t.leaking_hours,
                        t.self_inflicted_hours);
  } else if (proof == Proof::held) {
    text += ": the fix holds so far";
  } else if (t.provider_failure_hours > 0) {
    text += "; none of them was seen whole with enough requests: nothing is proved";
  }
  return text + ".";
}

void print_verify_table(std::ostream& out, const AbsorptionData& data, const AbsorptionTotals& t,
                        const std::string& sentence) {
  out << printable(sentence) << "\n";
  Table table({"start", "model", ">attempts", ">failed", ">requests", ">failed", "verdict"});
  for (const AbsorptionRow& row : data.rows) {
    for (const AbsorptionPart& part : row.parts) {
      if (!part.judgement.provider_fails && !is_failing(part.judgement.outcome)) continue;
      const SideCounts& c = part.counts;
      table.row({short_time(format_rfc3339(row.span.start)), std::string(part.group.get("model")),
                 fmt::format("{}", c.attempts), with_share(c.provider_failures, c.attempts),
                 fmt::format("{}", c.requests), with_share(c.consumer_failures, c.requests),
                 std::string(to_string(part.judgement.outcome))});
    }
  }
  if (!table.empty()) {
    out << "\n";
    table.print(out);
  }
  out << "\nThe attempts are " << kAttemptsAreALowerBound << ".\n";
  if (t.unknown > Duration::zero()) {
    out << fmt::format("{} of {} without complete data: nothing of it is counted.\n",
                       format_duration(t.unknown), format_duration(data.range.length()));
  }
}

void print_verify_csv(std::ostream& out, const AbsorptionData& data) {
  out << "start,model,attempts,provider_failures,requests,consumer_failures,verdict\n";
  for (const AbsorptionRow& row : data.rows) {
    for (const AbsorptionPart& part : row.parts) {
      if (!part.judgement.provider_fails && !is_failing(part.judgement.outcome)) continue;
      const SideCounts& c = part.counts;
      out << csv_line({format_rfc3339(row.span.start), std::string(part.group.get("model")),
                       fmt::format("{}", c.attempts), fmt::format("{}", c.provider_failures),
                       fmt::format("{}", c.requests), fmt::format("{}", c.consumer_failures),
                       std::string(to_string(part.judgement.outcome))});
    }
  }
}

}  // namespace

ExitStatus run_verify(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "verify --since TIME [--recording PATH]",
      "How a router fix has held on the provider failures after it: hours in which the\n"
      "provider of some model failed, and what consumers of that model saw in them.\n"
      "Verdict held, leaked, or unproved where no provider failure came yet.\n"
      "Exit status 1: leaked. 0: held, or unproved; the sentence and `verdict` say which.",
      "outcomed verify --since 2026-11-30T12:00:00Z");
  add_absorption_options(options);
  options.value("since", "when the fix went live: RFC 3339, Unix seconds or now-2d");
  if (const auto end = options.parse(arguments, shell)) return *end;
  if (!options.has("since")) return usage_error(shell, "--since is needed: --since now-2d");
  const std::string format = options.text("format");
  std::optional<AbsorptionData> data;
  if (const auto end = read_absorption(options, "since", shell, data)) return *end;
  const AbsorptionTotals totals = totals_of_any_model(data->rows);
  const Proof proof = proof_of(*data, totals);
  const std::string sentence = verify_sentence(*data, totals, proof);
  if (format == "json") {
    shell.out << verify_json(*data, totals, std::string(word(proof)), sentence) << "\n";
  } else if (format == "csv") {
    print_verify_csv(shell.out, *data);
    shell.err << printable(sentence) << "\n";
  } else {
    print_verify_table(shell.out, *data, totals, sentence);
  }
  return proof == Proof::leaked ? ExitStatus::found : ExitStatus::ok;
}

}  // namespace outcomed
