#include "detectors/price/price.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "detectors/price/fold.h"
#include "detectors/window_setting.h"
#include "queries/prices/price_table.h"
#include "queries/prices/spend.h"

namespace outcomed {
namespace {

constexpr Duration kLongSpan = std::chrono::hours(24) * PriceDetector::kLongDays;

void check_lines(ParamVisitor& visitor, const PriceParams& p) {
  if (p.tolerance && *p.tolerance >= 1) {
    visitor.problem("tolerance", "everything lies within 100%", "write for example 2%");
  }
  for (const auto& [name, line] :
       {std::pair("rows_off", p.rows_off), std::pair("unpriced", p.unpriced),
        std::pair("without_details", p.without_details)}) {
    if (line && *line >= 1) {
      visitor.problem(name, "a share is never above 100%: this can't fire", "use a lower line");
    }
  }
  if (!p.against_prices && p.max_cost_per_success.empty() && !p.dearer) {
    visitor.problem("against_prices", "nothing is left to judge",
                    "write dearer: 50% or max_cost_per_success: \"0.05\"");
  }
  if (p.compare == kSpendKindLabel) {
    visitor.problem("compare", "`kind` tells amounts apart", "name a label such as model");
  }
}

// An amount of the tables' currency, or of any where there are none.
std::optional<Money> read_money(ParamVisitor& visitor, std::string_view name,
                                const std::string& text, const SignalWords& words) {
  const auto [amount, currency] = split_currency(text);
  const std::string_view own = words.prices ? words.prices->currency() : std::string_view();
  if (!currency.empty() && (!is_currency(currency) || (!own.empty() && currency != own))) {
    visitor.problem(name, fmt::format("\"{}\" is not in the currency of the price tables", text),
                    "write the amount alone, such as 0.10");
    return std::nullopt;
  }
  const Result<Money> money = parse_money(amount);
  if (money) return *money;
  const std::string& message = money.error().message;
  const std::size_t split = message.rfind("; ");
  visitor.problem(name, message.substr(0, split),
                  split == std::string::npos ? "" : message.substr(split + 2));
  return std::nullopt;
}

}  // namespace

void PriceParams::visit(ParamVisitor& visitor, const SignalWords& words) {
  visitor.duration("window", window, "Costs are compared over this long.");
  visitor.share("tolerance", tolerance,
                "Breached while recorded ÷ expected is further than this from 100%.");
  visitor.share("rows_off", rows_off,
                "Breached while more rows than this share are off by more than 2%.");
  visitor.share("unpriced", unpriced,
                "Breached while more rows than this share have tokens and no cost.");
  visitor.share("without_details", without_details,
                "Breached while more rows than this share, and not all, lack the token details "
                "that other rows have: their tokens were perhaps estimated.");
  visitor.flag("against_prices", against_prices,
               "Costs are held against the price tables. Without, a rule judges only what a "
               "successful request costs.");
  visitor.text("max_cost_per_success", max_cost_per_success,
               "Breached while a successful request costs more than this; failures, attempts and "
               "probes are paid by it, too.");
  visitor.share("dearer", dearer,
                "Breached while a successful request costs this much more than in the rest of the "
                "last 28 days, from 7 days on.");
  visitor.text("compare", compare,
               "A label whose values should have one ratio, such as `model` in a rule by "
               "`provider_model`: one model under several names.");
  visitor.flag("blended", blended,
               "The gateway books one price for all hours: rows need only lie between off-peak "
               "and peak, and the ratio is taken over 28 days.");
  visitor.count(
      "min_requests", min_requests, {1, 1e15},
      "Fewer rows (for the cost of successes: fewer of those) than this in the window are too "
      "few to judge.");
  visitor.count("min_rows", min_rows, {1, 1e15},
                "Fewer rows than this that are off or unpriced never start an alert.");
  visitor.text("min_cost", min_cost, "Less expected cost than this is too little to judge.");
  visitor.duration("for", hold, "Breached this long before it fires.");
  visitor.text("severity", severity, "Severity of the alert: page, ticket or a word of yours.");
  if (window > kLongSpan) {
    visitor.problem("window", "longer than 28 days", "the daily ratio is a matter of 1d");
  }
  check_window(visitor, window, words.step);
  check_lines(visitor, *this);
  least_cost = read_money(visitor, "min_cost", min_cost, words).value_or(Money{});
  if (!max_cost_per_success.empty()) {
    most_per_success = read_money(visitor, "max_cost_per_success", max_cost_per_success, words);
  }
}

PriceDetector::PriceDetector(PriceParams params, SignalWords words)
    : params_(std::move(params)), words_(std::move(words)) {
  tiers_.push_back({params_.severity, params_.hold, params_.tolerance.value_or(0.02)});
  const Duration step = std::max(words_.step, Duration(1));
  const std::int64_t steps = std::max<std::int64_t>(1, params_.window / step);
  slot_ = step * ((steps + kSlots - 1) / kSlots);
}

std::size_t PriceDetector::slots() const {
  const std::int64_t count = (params_.window + slot_ - Duration(1)) / slot_;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 1, kSlots));
}

std::vector<std::string> PriceDetector::member_labels() const {
  std::vector<std::string> labels = {std::string(kSpendKindLabel)};
  if (!params_.compare.empty()) labels.push_back(params_.compare);
  return labels;
}

Duration PriceDetector::reach() const {
  return params_.blended || params_.dearer ? kLongSpan : params_.window + slot_;
}

std::string_view PriceDetector::currency() const {
  return words_.prices ? words_.prices->currency() : std::string_view();
}

std::unique_ptr<Fold> PriceDetector::start(const Labels& group) const {
  return std::make_unique<PriceFold>(*this, group);
}

}  // namespace outcomed
