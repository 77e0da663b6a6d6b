#include "detectors/price/span.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "detectors/price/wording.h"

namespace outcomed {
namespace {

constexpr Duration kDay = std::chrono::hours(24);
constexpr Duration kRecent = kDay * PriceDetector::kLongDays;

constexpr std::array<std::string_view, 9> kFindingNames = {
    "ratio",         "rows_off",         "outside_bounds", "class_unbilled", "price_missing",
    "price_unknown", "tokens_estimated", "names_differ",   "table_old"};

constexpr std::array<BookedAs, 6> kUnbilled = {BookedAs::cached_free,    BookedAs::creation_free,
                                               BookedAs::reasoning_free, BookedAs::reasoning_only,
                                               BookedAs::input_free,     BookedAs::output_free};

bool is_unbilled(BookedAs what) { return std::ranges::find(kUnbilled, what) != kUnbilled.end(); }

void add_amounts(SpendAmounts& sum, const SpendAmounts& more) {
  for (std::size_t i = 0; i < kSpendKinds; ++i) {
    sum.add(static_cast<SpendKind>(i), more.values[i]);
  }
}

std::string off_words(const SpendAmounts& amounts, std::int64_t off, bool blended) {
  std::string text = of_rows(off, judged_rows(amounts)) +
                     (blended ? " are outside off-peak and peak" : " are off by more than 2 %");
  const auto [reason, count] = main_reason(amounts);
  if (reason == BookedAs::unknown || is_unbilled(reason)) return text;
  return text + fmt::format(", {} of them booked as {}", count == off ? "all" : format_count(count),
                            phrase(reason));
}

// The classes that were booked for nothing, where at least `least` rows say so.
std::string unbilled_words(const SpendAmounts& amounts, std::int64_t least) {
  std::string text;
  std::int64_t rows = 0;
  for (const BookedAs what : kUnbilled) {
    const std::int64_t count = amounts.of(*spend_kind(what));
    if (count == 0) continue;
    rows += count;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", phrase(what), format_count(count));
  }
  if (rows < least) return {};
  return fmt::format("{} are booked as {}", of_rows(rows, judged_rows(amounts)), text);
}

}  // namespace

std::string to_text(const PricedName& name) {
  if (name.model.empty() || name.model == name.provider_model) return name.provider_model;
  if (name.provider_model.empty()) return name.model;
  return fmt::format("{} ({})", name.model, name.provider_model);
}

std::string_view to_string(PriceFindingKind kind) {
  return kFindingNames[static_cast<std::size_t>(kind)];
}

PriceSpan::PriceSpan(TimeRange range, std::shared_ptr<const PriceTables> tables, PriceParams params)
    : range_(range), tables_(std::move(tables)), params_(std::move(params)) {}

void PriceSpan::add(const SignalBatch& batch, const std::vector<Labels>& cells) {
  const std::size_t steps = batch.steps();
  for (const Coverage coverage : batch.coverage) {
    if (coverage != Coverage::complete) unknown_ += batch.step;
  }
  for (std::size_t cell = 0; cell < cells.size() && (cell + 1) * steps <= batch.n.size(); ++cell) {
    const auto kind = spend_kind(cells[cell].get(kSpendKindLabel));
    if (!kind) continue;
    const std::pair key(std::string(cells[cell].get("provider_model")),
                        std::string(cells[cell].get("model")));
    for (std::size_t step = 0; step < steps; ++step) {
      const std::int64_t amount = batch.n[cell * steps + step];
      if (amount == 0 || batch.coverage[step] != Coverage::complete) continue;
      PricedName& name = names_[key];
      name.amounts.add(*kind, amount);
      const Timestamp begin = batch.range.begin + batch.step * static_cast<std::int64_t>(step);
      if (begin < range_.end - kRecent) continue;
      name.recent.add(*kind, amount);
      name.days.insert(unix_ms(floor_to(begin, kDay)) / kDay.count());
    }
  }
}

PriceSpanReport PriceSpan::report(std::string_view model) const {
  PriceSpanReport report;
  report.unknown = unknown_;
  const Timestamp last = range_.end - Duration(1);
  for (const auto& [key, amounts] : names_) {
    if (!model.empty() && key.first != model && key.second != model) continue;
    PricedName name = amounts;
    std::tie(name.provider_model, name.model) = key;
    name.entry = tables_->find(key.first.empty() ? key.second : key.first, last);
    add_amounts(report.total, name.amounts);
    report.names.push_back(std::move(name));
  }
  // By table and model, in the order of the names.
  std::vector<std::vector<const PricedName*>> shared;
  for (const PricedName& name : report.names) {
    add_findings(name, report);
    if (!name.entry) continue;
    const auto same = [&](const auto& names) {
      return names.front()->entry->model == name.entry->model;
    };
    const auto found = std::ranges::find_if(shared, same);
    (found == shared.end() ? shared.emplace_back() : *found).push_back(&name);
  }
  for (const auto& names : shared) add_shared(names, report);
  std::set<const PriceTable*> used;
  for (const auto& names : shared) {
    const PriceTable& table = *names.front()->entry->table;
    if (!used.insert(&table).second || !table.is_stale(range_.end)) continue;
    report.findings.push_back(
        {PriceFindingKind::table_old, table.provider,
         fmt::format("the price table was read on {}, more than {} before the end of the span; "
                     "read it again{}",
                     format_rfc3339(*table.read_on).substr(0, 10),
                     format_duration(table.stale_after),
                     table.source.empty() ? "" : ": " + table.source)});
  }
  return report;
}

void PriceSpan::add_findings(const PricedName& name, PriceSpanReport& report) const {
  const auto say = [&](PriceFindingKind kind, std::string message) {
    report.findings.push_back({kind, to_text(name), std::move(message)});
  };
  const std::string_view currency = tables_->currency();
  const SpendAmounts& amounts = name.amounts;
  const std::int64_t rows = judged_rows(amounts);
  const auto days = static_cast<int>(name.days.size());
  const PriceFindings found = find_in(amounts, name.recent, days, params_);
  const bool enough = rows >= params_.min_requests &&
                      amounts.of(SpendKind::expected_cost) >= params_.least_cost.nano;
  if (enough && (found.low || found.high)) {
    say(PriceFindingKind::ratio,
        params_.blended
            ? fmt::format("over {} days {}", days, ratio_words(compared(name.recent), currency))
            : ratio_words(compared(amounts), currency));
  }
  if (found.rows) {
    say(PriceFindingKind::rows_off,
        off_words(amounts, wrong_rows(amounts, params_), params_.blended));
  }
  // Of a flat price they are those that are off.
  const std::int64_t outside = amounts.of(SpendKind::rows_outside);
  const bool has_hours = name.entry && !name.entry->model->is_flat();
  if (has_hours && !params_.blended && outside >= params_.min_rows) {
    say(PriceFindingKind::outside_bounds,
        of_rows(outside, rows) + " lie outside off-peak and peak");
  }
  if (std::string text = unbilled_words(amounts, params_.min_rows); !text.empty()) {
    say(PriceFindingKind::class_unbilled, std::move(text));
  }
  if (found.unpriced) {
    say(PriceFindingKind::price_missing,
        of_rows(amounts.of(SpendKind::rows_unpriced), rows) + " have tokens and no cost");
  }
  if (const std::int64_t unknown = amounts.of(SpendKind::rows_unknown);
      unknown >= params_.min_rows) {
    const Money cost{amounts.of(SpendKind::unmatched_cost)};
    say(PriceFindingKind::price_unknown,
        fmt::format("{} rows cost {}, and no table has a price for them: add the model to prices, "
                    "or an alias",
                    format_count(unknown), with_currency(format_money(cost), currency)));
  }
  if (found.estimated) {
    say(PriceFindingKind::tokens_estimated,
        of_rows(amounts.of(SpendKind::rows_bare), rows) +
            " lack token details that others have: their tokens may be estimated");
  }
}

void PriceSpan::add_shared(const std::vector<const PricedName*>& names,
                           PriceSpanReport& report) const {
  const PriceEntry& entry = *names.front()->entry;
  PriceReport all;
  all.entry = entry;
  std::set<std::int64_t> days;
  std::vector<std::string> texts;
  for (const PricedName* name : names) texts.push_back(to_text(*name));
  for (std::size_t i = 0; i < names.size(); ++i) {
    add_amounts(all.days, names[i]->recent);
    days.insert(names[i]->days.begin(), names[i]->days.end());
    all.names.push_back({texts[i], compared(names[i]->amounts)});
  }
  if (const auto unlike = unlike_names(all.names, params_)) {
    report.findings.push_back(
        {PriceFindingKind::names_differ,
         fmt::format("{} of {}", entry.model->name, entry.table->provider),
         fmt::format("{} is booked at {} and {} at {}", unlike->first.name,
                     format_ratio(unlike->first.costs.ratio()), unlike->second.name,
                     format_ratio(unlike->second.costs.ratio()))});
  }
  if (const auto blended = proposed_blend(all)) {
    report.blends.push_back(
        {entry, static_cast<int>(days.size()), *blended, compared(all.days).recorded});
  }
}

}  // namespace outcomed
