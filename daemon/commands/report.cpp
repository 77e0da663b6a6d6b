#include <fmt/core.h>

#include <ostream>

#include "daemon/commands/absorption_data.h"
#include "daemon/commands/absorption_json.h"
#include "daemon/commands/table.h"
#include "detectors/absorption/wording.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

std::string models_of(const AbsorptionRow& row) {
  std::string text;
  for (const AbsorptionPart& part : row.parts) {
    if (!is_failing(part.judgement.outcome) && !part.judgement.provider_fails) continue;
    if (part.group.pairs().empty()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.group.get("model"),
                        to_string(part.judgement.outcome));
  }
  return text;
}

std::string seen_of(const AbsorptionSpan& span) {
  if (span.unknown == Duration::zero()) return "all";
  return fmt::format("{} of {}", format_duration(span.length - span.unknown),
                     format_duration(span.length));
}

void print_rows(std::ostream& out, const std::vector<AbsorptionRow>& rows, bool with_models) {
  Table table({"start", ">attempts", ">failed", ">requests", ">failed", ">refused", "seen",
               "verdict", with_models ? "models" : ""});
  for (const AbsorptionRow& row : rows) {
    const SideCounts& c = row.span.counts;
    const bool blind = row.verdict == SpanVerdict::no_data;
    const auto number = [&](const std::string& text) { return blind ? std::string("-") : text; };
    table.row({short_time(format_rfc3339(row.span.start)), number(fmt::format("{}", c.attempts)),
               number(with_share(c.provider_failures, c.attempts)),
               number(fmt::format("{}", c.requests)),
               number(with_share(c.consumer_failures, c.requests)),
               number(fmt::format("{}", c.refused)), seen_of(row.span),
               std::string(to_string(row.verdict)), with_models ? models_of(row) : ""});
  }
  table.print(out);
}

void print_totals(std::ostream& out, const AbsorptionData& data,
                  const std::vector<AbsorptionRow>& rows) {
  const AbsorptionTotals t = totals_of(rows);
  out << fmt::format("\n{}, {} with a failing provider (from {} of the attempts on)\n",
                     count_rows(t.hours, data.row), part_of(t.provider_failure_hours, t.hours),
                     format_share(data.limits.provider_failures));
  if (t.provider_failure_hours > 0) {
    out << fmt::format("  no consumer request failed in   {}\n",
                       part_of(t.failure_free_provider_failure_hours, t.provider_failure_hours));
  }
  out << fmt::format(
      "  absorbed {}, leaking {}, rejected {}, self-inflicted {}, not seen whole {}\n",
      t.absorbed_hours, t.leaking_hours, t.rejected_hours, t.self_inflicted_hours, t.unknown_hours);
  out << fmt::format("attempts failed at the provider   {} ({})\n",
                     part_of(t.counts.provider_failures, t.counts.attempts),
                     kAttemptsAreALowerBound);
  out << fmt::format("requests failed for consumers     {}\n",
                     part_of(t.counts.consumer_failures, t.counts.requests));
  if (t.provider_failure_hours > 0) {
    out << fmt::format("  while their provider failed     {}, with {} attempts\n",
                       part_of(t.under_failure.consumer_failures, t.under_failure.requests),
                       part_of(t.under_failure.provider_failures, t.under_failure.attempts));
  }
  if (t.unknown > Duration::zero()) {
    out << fmt::format("{} of the time without complete data: nothing of it is counted\n",
                       format_duration(t.unknown));
  }
}

void print_absorption_table(std::ostream& out, const AbsorptionData& data, bool by_model) {
  if (by_model) {
    for (std::size_t i = 0; i < data.models.size(); ++i) {
      out << (data.models[i].empty() ? "(no model)" : data.models[i]) << "\n";
      print_rows(out, data.by_model[i], false);
      print_totals(out, data, data.by_model[i]);
      out << "\n";
    }
  } else {
    print_rows(out, data.rows, true);
    print_totals(out, data, data.rows);
  }
  const auto sentences = failing_sentences(data);
  if (!sentences.empty() && !by_model) out << "\n";
  for (const std::string& sentence : sentences) out << printable(sentence) << "\n";
}

void print_csv_rows(std::ostream& out, const std::vector<AbsorptionRow>& rows,
                    const std::string* model) {
  for (const AbsorptionRow& row : rows) {
    const SideCounts& c = row.span.counts;
    std::vector<std::string> cells = {format_rfc3339(row.span.start),
                                      fmt::format("{}", row.span.length.count() / 1000),
                                      fmt::format("{}", row.span.unknown.count() / 1000),
                                      fmt::format("{}", c.attempts),
                                      fmt::format("{}", c.provider_failures),
                                      fmt::format("{}", c.requests),
                                      fmt::format("{}", c.consumer_failures),
                                      fmt::format("{}", c.refused),
                                      fmt::format("{}", c.rejected),
                                      fmt::format("{}", c.passed_on),
                                      std::string(to_string(row.verdict))};
    if (model != nullptr) cells.push_back(*model);
    out << csv_line(cells);
  }
}

void print_absorption_csv(std::ostream& out, const AbsorptionData& data, bool by_model) {
  out << "start,seconds,unknown_seconds,attempts,provider_failures,requests,consumer_failures,"
         "refused,rejected,passed_on,verdict"
      << (by_model ? ",model\n" : "\n");
  if (!by_model) return print_csv_rows(out, data.rows, nullptr);
  for (std::size_t i = 0; i < data.models.size(); ++i) {
    print_csv_rows(out, data.by_model[i], &data.models[i]);
  }
}

}  // namespace

ExitStatus run_report(const std::vector<std::string>& arguments, Shell& shell) {
  if (!arguments.empty() && arguments.front() == "prices") {
    return run_report_prices({arguments.begin() + 1, arguments.end()}, shell);
  }
  Options options(
      "report absorption [--recording PATH] [--from TIME] [--to TIME]",
      "Provider failures against consumer failures, hour by hour, and whose they are:\n"
      "absorbed, leaking, rejected, self_inflicted. An hour with steps that nobody saw is\n"
      "partial or no_data unless failures were seen in it. The limits are those of the\n"
      "first absorption rule of the configuration, else its defaults.\n"
      "Exit status 1: consumers failed in some hour (leaking, rejected, self_inflicted).\n"
      "The other report: outcomed report prices --help.",
      "outcomed report absorption --from now-2d --format json");
  add_absorption_options(options);
  options.value("from", "start: RFC 3339, Unix seconds or now-2d")
      .flag("by-model", "a table for each model")
      .positional("words", -1, "absorption");
  if (const auto end = options.parse(arguments, shell)) return *end;
  if (options.texts("words") != std::vector<std::string>{"absorption"}) {
    return usage_error(shell, "report is followed by what it shall report: absorption or prices");
  }
  const std::string format = options.text("format");
  std::optional<AbsorptionData> data;
  if (const auto end = read_absorption(options, "from", shell, data)) return *end;
  const bool by_model = options.has("by-model");
  if (format == "json") {
    shell.out << absorption_json(*data, by_model) << "\n";
  } else if (format == "csv") {
    print_absorption_csv(shell.out, *data, by_model);
  } else {
    print_absorption_table(shell.out, *data, by_model);
  }
  const AbsorptionTotals totals = totals_of(data->rows);
  const bool found = totals.leaking_hours + totals.rejected_hours + totals.self_inflicted_hours > 0;
  return found ? ExitStatus::found : ExitStatus::ok;
}

}  // namespace outcomed
