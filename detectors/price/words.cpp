// The sentence and the facts of a price rule.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "detectors/price/findings.h"
#include "detectors/price/wording.h"
#include "detectors/sentence.h"

namespace outcomed {

std::string with_currency(std::string text, std::string_view currency) {
  return currency.empty() ? text : fmt::format("{} {}", text, currency);
}

std::string of_rows(std::int64_t rows, std::int64_t all) {
  const double share = all > 0 ? static_cast<double>(rows) / static_cast<double>(all) : 0;
  return fmt::format("{} of {} rows ({})", format_count(rows), format_count(all),
                     format_share(share));
}

std::string ratio_words(const ComparedCosts& costs, std::string_view currency) {
  const std::string amounts = with_currency(
      fmt::format("{} of {}", format_money(costs.recorded), format_money(costs.expected)),
      currency);
  if (costs.expected.nano == 0) return fmt::format("{} booked where nothing is due", amounts);
  return fmt::format("{} of the expected cost was booked ({})", format_ratio(costs.ratio()),
                     amounts);
}

std::pair<BookedAs, std::int64_t> main_reason(const SpendAmounts& amounts) {
  std::pair<BookedAs, std::int64_t> best{BookedAs::unknown, 0};
  for (std::size_t i = 1; i < kBookedAs; ++i) {
    const auto what = static_cast<BookedAs>(i);
    const std::int64_t rows = amounts.of(*spend_kind(what));
    if (rows > best.second) best = {what, rows};
  }
  if (best.second <= amounts.of(SpendKind::rows_off) / 2) return {BookedAs::unknown, 0};
  return best;
}

namespace {

// Beyond what the provider takes at any hour.
std::string bounds_words(const PriceReport& report) {
  const ComparedCosts costs = compared(report.amounts);
  const Money off_peak{report.amounts.of(SpendKind::expected_off_peak)};
  const Money peak{report.amounts.of(SpendKind::expected_peak)};
  const auto [low, high] = std::minmax(off_peak, peak);
  if (low == high || costs.expected.nano == 0) return "";
  const std::string bounds = with_currency(
      fmt::format("{} to {}", format_money(low), format_money(high)), report.currency);
  if (costs.recorded < low) return "less than all of it off-peak would cost: " + bounds;
  if (costs.recorded > high) return "more than all of it at peak would cost: " + bounds;
  return "within the bounds of off-peak and peak: " + bounds;
}

std::string each_words(const SuccessCost& cost, std::string_view currency) {
  return with_currency(format_money({std::llround(cost.each())}), currency);
}

std::string success_words(const PriceReport& report, const PriceParams& params) {
  const SuccessCost now = success_cost(report.amounts);
  if (now.successes == 0) {
    return fmt::format("no request succeeded in the last {}", format_duration(params.window));
  }
  std::string text = fmt::format(
      "a successful request cost {} in the last {} ({} for {} requests, {} of them successful)",
      each_words(now, report.currency), format_duration(params.window),
      with_currency(format_money(now.recorded), report.currency),
      format_count(report.amounts.of(SpendKind::requests)), format_count(now.successes));
  if (params.dearer && report.before.each() > 0) {
    text +=
        fmt::format(", {:.2g} times the {} of the rest of 28 days",
                    now.each() / report.before.each(), each_words(report.before, report.currency));
  }
  if (report.findings.dear) {
    text += fmt::format(", above the line of {}",
                        with_currency(format_money(*params.most_per_success), report.currency));
  }
  return text;
}

}  // namespace

std::string format_ratio(double ratio) {
  const double percent = ratio * 100;
  const bool near = percent > 90 && percent < 110;
  std::string text = fmt::format("{:.{}f}", percent, near ? 1 : 0);
  if (near && text.ends_with(".0")) text.resize(text.size() - 2);
  return text + " %";
}

std::string success_sentence(const PriceReport& report, const PriceParams& params) {
  return fmt::format("{}: {}.", report.subject, success_words(report, params));
}

std::string price_sentence(const PriceReport& report, const PriceParams& params) {
  const SpendAmounts& amounts = report.amounts;
  const std::int64_t rows = judged_rows(amounts);
  const ComparedCosts costs = compared(amounts);
  std::string text = fmt::format(
      "{}: {} in the last {}, {} requests", report.subject, ratio_words(costs, report.currency),
      format_duration(params.window), format_count(amounts.of(SpendKind::requests)));
  if (params.blended && (report.findings.low || report.findings.high)) {
    text += fmt::format("; over {} days {}", report.known_days,
                        ratio_words(compared(report.days), report.currency));
  }
  const std::int64_t off = wrong_rows(amounts, params);
  if (off > 0) {
    text += fmt::format("; {} are {}", of_rows(off, rows),
                        params.blended ? "outside off-peak and peak" : "off by more than 2 %");
    const auto [reason, count] = main_reason(amounts);
    if (reason != BookedAs::unknown) {
      text += fmt::format(", {} of them booked as {}", count == off ? "all" : format_count(count),
                          phrase(reason));
    }
  }
  if (report.findings.unpriced) {
    text += fmt::format("; {} have tokens and no cost",
                        of_rows(amounts.of(SpendKind::rows_unpriced), rows));
  }
  if (report.findings.estimated) {
    text += fmt::format("; {} lack token details that others have: their tokens may be estimated",
                        of_rows(amounts.of(SpendKind::rows_bare), rows));
  }
  if (const auto unlike = unlike_names(report.names, params); unlike && report.findings.names) {
    text += fmt::format("; {} is booked at {} and {} at {}", unlike->first.name,
                        format_ratio(unlike->first.costs.ratio()), unlike->second.name,
                        format_ratio(unlike->second.costs.ratio()));
  }
  if (report.findings.of_successes()) text += "; " + success_words(report, params);
  return text + ".";
}

std::optional<PriceBlend> proposed_blend(const PriceReport& report) {
  if (!report.entry) return std::nullopt;
  const SpendAmounts& days = report.days;
  const TariffCosts costs{{days.of(SpendKind::expected_cost)},
                          {days.of(SpendKind::expected_off_peak)},
                          {days.of(SpendKind::expected_peak)}};
  const BillableTokens tokens =
      billable({days.of(SpendKind::prompt_tokens), days.of(SpendKind::cached_tokens),
                days.of(SpendKind::cache_creation_tokens), days.of(SpendKind::completion_tokens),
                days.of(SpendKind::reasoning_tokens)});
  return blend(report.entry->model->peak, report.entry->model->off_peak, costs, tokens);
}

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

void add_rows(const SpendAmounts& amounts, Facts& facts) {
  for (const SpendKind kind :
       {SpendKind::rows_priced, SpendKind::rows_off, SpendKind::rows_outside,
        SpendKind::rows_unpriced, SpendKind::rows_unknown, SpendKind::rows_bare}) {
    facts.emplace_back(std::string(to_string(kind)), format_count(amounts.of(kind)));
  }
  std::string reasons;
  for (std::size_t i = 1; i < kBookedAs; ++i) {
    const auto what = static_cast<BookedAs>(i);
    const std::int64_t rows = amounts.of(*spend_kind(what));
    if (rows == 0) continue;
    reasons +=
        fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", phrase(what), format_count(rows));
  }
  if (!reasons.empty()) facts.emplace_back("booked_as", std::move(reasons));
}

void add_tokens(const SpendAmounts& amounts, Facts& facts) {
  facts.emplace_back(
      "tokens",
      fmt::format("prompt {} (cached {}, cache creation {}), completion {} (reasoning {})",
                  format_count(amounts.of(SpendKind::prompt_tokens)),
                  format_count(amounts.of(SpendKind::cached_tokens)),
                  format_count(amounts.of(SpendKind::cache_creation_tokens)),
                  format_count(amounts.of(SpendKind::completion_tokens)),
                  format_count(amounts.of(SpendKind::reasoning_tokens))));
}

void add_table(const PriceReport& report, Facts& facts) {
  if (!report.entry) return;
  const PriceTable& table = *report.entry->table;
  std::string text = fmt::format("{} of {}", report.entry->model->name, table.provider);
  if (table.read_on) {
    const std::int64_t days = (report.at - *table.read_on) / std::chrono::hours(24);
    text += fmt::format(", read on {}", format_rfc3339(*table.read_on).substr(0, 10));
    if (days >= 0) text += fmt::format(" ({} days ago)", days);
    if (table.is_stale(report.at)) text += ": old, read it again";
  }
  if (!table.source.empty()) text += ", " + table.source;
  facts.emplace_back("price_table", std::move(text));
}

void add_blend(const PriceReport& report, Facts& facts) {
  const SpendAmounts& days = report.days;
  const auto share = peak_share({{days.of(SpendKind::expected_cost)},
                                 {days.of(SpendKind::expected_off_peak)},
                                 {days.of(SpendKind::expected_peak)}});
  if (!share) return;
  facts.emplace_back("peak_share", fmt::format("{} of the cost over {} days", format_share(*share),
                                               report.known_days));
  const auto proposed = proposed_blend(report);
  if (!proposed) return;
  facts.emplace_back("blended_price", to_text(proposed->prices, report.currency));
  const double hit = proposed->exact.nano == 0 ? 1
                                               : static_cast<double>(proposed->total.nano) /
                                                     static_cast<double>(proposed->exact.nano);
  facts.emplace_back("blended_total",
                     with_currency(fmt::format("{} of {}", format_money(proposed->total),
                                               format_money(proposed->exact)),
                                   report.currency) +
                         fmt::format(" ({:.2f} %) over {} days; booked were {}", hit * 100,
                                     report.known_days, format_money(compared(days).recorded)));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> price_facts(const PriceReport& report,
                                                             const PriceParams& params) {
  Facts facts;
  const SpendAmounts& amounts = report.amounts;
  const ComparedCosts costs = compared(amounts);
  if (params.against_prices) {
    facts.emplace_back("recorded", with_currency(format_money(costs.recorded), report.currency));
    facts.emplace_back("expected", with_currency(format_money(costs.expected), report.currency));
    facts.emplace_back("ratio", format_ratio(costs.ratio()));
  }
  if (const std::string bounds = bounds_words(report); !bounds.empty()) {
    facts.emplace_back("bounds", bounds);
  }
  if (const std::int64_t rest = amounts.of(SpendKind::unmatched_cost); rest != 0) {
    facts.emplace_back("without_price", with_currency(format_money({rest}), report.currency));
  }
  facts.emplace_back("requests", format_count(amounts.of(SpendKind::requests)));
  // What failed and cost something is paid by those that succeeded.
  const std::int64_t billed = add_held(judged_rows(amounts), amounts.of(SpendKind::rows_unknown));
  if (billed > 0) {
    facts.emplace_back("cost_per_billed_row",
                       with_currency(format_money({amounts.of(SpendKind::recorded_cost) / billed}),
                                     report.currency));
  }
  if (const SuccessCost each = success_cost(amounts); each.successes > 0) {
    facts.emplace_back("cost_per_success", each_words(each, report.currency));
    if (report.before.successes > 0) {
      facts.emplace_back("cost_per_success_before", each_words(report.before, report.currency));
    }
  }
  if (params.against_prices) add_rows(amounts, facts);
  add_tokens(amounts, facts);
  for (const NamedCosts& name : report.names) {
    facts.emplace_back(fmt::format("{}={}", params.compare, name.name),
                       ratio_words(name.costs, report.currency));
  }
  add_table(report, facts);
  add_blend(report, facts);
  facts.emplace_back("window", format_duration(params.window));
  facts.emplace_back("for", format_duration(params.hold));
  const auto line = [&](const char* name, const std::optional<double>& share) {
    if (share) facts.emplace_back(name, format_share(*share));
  };
  if (params.against_prices) {
    line("tolerance", params.tolerance);
    line("rows_off_above", params.rows_off);
    line("unpriced_above", params.unpriced);
  }
  line("dearer_above", params.dearer);
  facts.emplace_back("min_requests", fmt::format("{}", params.min_requests));
  return facts;
}

}  // namespace outcomed
