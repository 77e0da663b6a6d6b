#include "queries/litellm/ledger_counter.h"

#include <fmt/core.h>

#include <algorithm>

#include "queries/base/glob.h"
#include "queries/base/utf8.h"
#include "queries/failure_side.h"
#include "queries/litellm/ledger_columns.h"
#include "queries/litellm/row_leaks.h"

namespace outcomed::litellm {
namespace {

constexpr std::size_t kMostKnown = 50'000;

Labels consumer_labels(const LedgerRow& row, std::string_view model) {
  Labels labels;
  labels.set("model", repair_utf8(model));
  labels.set("team", repair_utf8(row.team));
  labels.set("team_alias", repair_utf8(row.team_alias));
  labels.set("api_key_alias", repair_utf8(row.key_alias));
  labels.set("hashed_api_key", repair_utf8(row.api_key));
  return labels;
}

bool is_consumers(const LedgerRow& row) { return !is_attempt(row) && !is_health_check(row); }

// A row whose answer the gateway or a provider is paid for. Newer gateways estimate the tokens of
// what failed.
bool is_paid(const LedgerRow& row, std::int64_t cost) {
  return cost > 0 || (!has_failed(row) && !is_from_cache(row));
}

// Why what a row cost bought nothing; empty where it did.
std::string_view waste_of(const LedgerRow& row) {
  if (is_attempt(row)) return "attempt";  // Its request has a row of its own.
  if (has_failed(row)) return "failed";
  return was_truncated(row) ? "truncated" : "";
}

bool needs_amounts(const std::string& signal) {
  return signal == "spend" || signal.ends_with("_spend") || signal.ends_with("reasoning") ||
         signal == "wasted_tokens";
}
bool is_waste(const std::string& signal) { return signal.starts_with("wasted_"); }
bool is_leaks(const std::string& signal) { return signal == "leaks" || signal == "leaks_by_rows"; }

}  // namespace

LedgerCounter::LedgerCounter(const std::vector<SignalPlan>& plans, LedgerSettings settings)
    : settings_(std::move(settings)), pricer_(settings_.prices) {
  LedgerColumns columns;
  for (const SignalPlan& plan : plans) {
    signals_.push_back({plan, {}, {}});
    columns.amounts |= needs_amounts(plan.name);
    columns.addresses |= is_leaks(plan.name);
    columns.finish_reasons |= settings_.finish_reasons && is_waste(plan.name);
  }
  wants_amounts_ = columns.amounts;
  wants_finish_reasons_ = columns.finish_reasons;
  table_ = ledger_table(columns);
}

const RowTable& LedgerCounter::table() const { return table_; }

const std::vector<Labels>& LedgerCounter::cells(std::size_t signal) const {
  return signals_[signal].cells;
}

void LedgerCounter::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  Signal& of = signals_[signal];
  of.cells = cells;
  of.ids.clear();
  for (CellId id = 0; id < cells.size(); ++id) of.ids.emplace(cells[id], id);
  known_.clear();
}

CellId LedgerCounter::cell(std::size_t signal, const Labels& labels) {
  Signal& of = signals_[signal];
  Labels kept;
  for (const auto* names : {&of.plan.labels, &of.plan.failure_labels}) {
    for (const std::string& name : *names) kept.set(name, std::string(labels.get(name)));
  }
  const auto [found, fresh] = of.ids.emplace(std::move(kept), static_cast<CellId>(of.cells.size()));
  if (fresh) of.cells.push_back(found->first);
  return found->second;
}

void LedgerCounter::add(Known& known, std::size_t signal, const Labels& labels, std::int64_t n,
                        std::int64_t k, Amount of_n, Amount of_k) {
  known.uses.push_back({signal, cell(signal, labels), of_n, n, of_k, k});
}

void LedgerCounter::add_requests(Known& known, std::size_t signal, const LedgerRow& row) {
  if (!is_consumers(row)) return;
  Labels labels = consumer_labels(row, asked_model(row));
  add(known, signal, labels, 1, 0);
  if (!has_failed(row)) return;
  labels.set("error_class", std::string(error_class_of(row)));
  labels.set("exception_class", repair_utf8(exception_class(row)));
  labels.set("exception_status", repair_utf8(row.error_code));
  add(known, signal, labels, 0, 1);
}

void LedgerCounter::add_fallbacks(Known& known, std::size_t signal, const LedgerRow& row) {
  if (!is_consumers(row)) return;
  Labels labels = consumer_labels(row, asked_model(row));
  add(known, signal, labels, 1, 0);
  std::int64_t hops = 0;
  if (!read_count(row.attempted_fallbacks, hops) || hops == 0) return;
  if (row.model_group != asked_model(row)) {
    labels.set("fallback_model", repair_utf8(row.model_group));
  }
  add(known, signal, labels, 0, 1);
}

// The sides of failure_side.h, of the model that was asked for.
void LedgerCounter::add_absorption(Known& known, std::size_t signal, const LedgerRow& row) {
  if (!is_consumers(row)) return;
  const auto on = [&](std::string_view side, std::int64_t n, std::int64_t k) {
    Labels labels = consumer_labels(row, asked_model(row));
    labels.set(std::string(failure_side::kLabel), std::string(side));
    add(known, signal, labels, n, k);
  };
  const std::string_view error = error_class_of(row);
  const bool ours = has_failed(row) && !failure_side::is_callers_error(error);
  on(failure_side::kConsumer, 1, ours ? 1 : 0);
  const LedgerAttempts attempts = attempts_of(row);
  if (attempts.all > 0) on(failure_side::kProvider, attempts.all, attempts.failed);
  if (!ours) return;
  const std::string_view part = failure_side::of_failure(error, was_refused(row));
  if (!part.empty()) on(part, 1, 1);
}

// Of what the answer says itself; of the model that answered.
void LedgerCounter::add_reasoning(Known& known, std::size_t signal, const LedgerRow& row) {
  if (!is_consumers(row) || has_failed(row)) return;
  if (signals_[signal].plan.name == "unwanted_reasoning" &&
      !any_glob_matches(settings_.no_reasoning, consumer_of(row))) {
    return;
  }
  Labels labels = consumer_labels(row, served_model(row));
  labels.set("consumer", repair_utf8(consumer_of(row)));
  add(known, signal, labels, 1, 1, Amount::completion_tokens, Amount::reasoning_tokens);
}

// Of all that the gateway sent.
void LedgerCounter::add_probes(Known& known, std::size_t signal, const LedgerRow& row,
                               Amount amount) {
  Labels labels;
  labels.set("model", repair_utf8(served_model(row)));
  add(known, signal, labels, 1, is_health_check(row) ? 1 : 0, amount, amount);
}

// Of all that consumers' requests cost, earlier attempts too.
void LedgerCounter::add_waste(Known& known, std::size_t signal, const LedgerRow& row,
                              Amount amount) {
  if (is_health_check(row)) return;
  Labels labels = consumer_labels(row, served_model(row));
  labels.set("consumer", repair_utf8(consumer_of(row)));
  add(known, signal, labels, 1, 0, amount, amount);
  const std::string_view cause = waste_of(row);
  if (cause.empty()) return;
  labels.set("cause", std::string(cause));
  add(known, signal, labels, 0, 1, amount, amount);
}

// What was served, and all that left.
void LedgerCounter::add_leaks(Known& known, std::size_t signal, const LedgerRow& row) {
  if (!is_private_request(row, settings_.keep_private)) return;
  Labels labels;
  labels.set("model", repair_utf8(asked_model(row)));
  const auto leak = leak_of(row, settings_.keep_private);
  const bool was_served = !is_attempt(row) && !has_failed(row);
  if (was_served || leak) add(known, signal, labels, 1, 0);
  if (!leak) return;
  labels.set("served_by", repair_utf8(leak->served_by));
  labels.set("way", std::string(leak->way));
  add(known, signal, labels, 0, 1);
  known.leak = {signal, cell(signal, labels)};
}

// All that was paid for: attempts and probes too.
void LedgerCounter::add_spend(Known& known, std::size_t signal, const LedgerRow& row) {
  Labels labels;
  labels.set("model", repair_utf8(served_model(row)));
  labels.set("model_id", repair_utf8(row.model_id));
  labels.set("provider", repair_utf8(row.provider));
  labels.set("provider_model", repair_utf8(row.model));
  known.spend.push_back({signal, std::move(labels), {}});
}

LedgerCounter::Known& LedgerCounter::known(const LedgerRow& row) {
  // Everything that decides labels and cells.
  key_.clear();
  for (const std::string_view part :
       {row.status, row.model, row.model_id, row.model_group, row.provider, row.api_key,
        row.key_alias, row.team, row.team_alias, row.error_class, row.error_code,
        row.error_provider, row.original_model_group, row.attempted_retries,
        row.attempted_fallbacks, row.api_base}) {
    key_.append(part).push_back('\xff');
  }
  key_.push_back(is_attempt(row) ? 'a' : 'r');
  key_.push_back(was_truncated(row) ? 't' : 'w');
  key_.push_back(is_from_cache(row) ? 'c' : 's');
  const auto found = known_.find(key_);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown) known_.clear();
  Known& fresh = known_[key_];
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    const std::string& name = signals_[i].plan.name;
    if (name == "requests" || name == "requests_by_rows") add_requests(fresh, i, row);
    if (name == "fallbacks") add_fallbacks(fresh, i, row);
    if (name == "absorption") add_absorption(fresh, i, row);
    if (name == "reasoning" || name == "unwanted_reasoning") add_reasoning(fresh, i, row);
    if (name == "probes") add_probes(fresh, i, row, Amount::rows);
    if (name == "probe_spend") add_probes(fresh, i, row, Amount::cost);
    if (name == "wasted_spend") add_waste(fresh, i, row, Amount::cost);
    if (name == "wasted_tokens") add_waste(fresh, i, row, Amount::paid_tokens);
    if (name == "spend") add_spend(fresh, i, row);
    if (is_leaks(name)) add_leaks(fresh, i, row);
  }
  return fresh;
}

std::int64_t LedgerCounter::number(bool readable, std::string_view what, std::int64_t value) {
  if (readable) return value;
  Problem problem{"bad_number", std::string(kLedgerTable),
                  fmt::format("rows hold a {} that is no amount (negative, NaN or too large); it "
                              "was counted as 0",
                              what)};
  if (std::ranges::find(problems_, problem) == problems_.end()) {
    problems_.push_back(std::move(problem));
  }
  return 0;
}

LedgerCounter::Worth LedgerCounter::worth_of(const LedgerRow& row) {
  Worth worth;
  if (!wants_amounts_) return worth;
  const auto count = [&](std::string_view text, std::string_view what) {
    std::int64_t value = 0;
    const bool readable = read_count(text, value);
    return number(readable, what, value);
  };
  const bool readable = read_money(row.spend, worth.cost);
  worth.cost = number(readable, "spend", worth.cost);
  worth.tokens.prompt = count(row.prompt_tokens, "prompt_tokens");
  worth.tokens.completion = count(row.completion_tokens, "completion_tokens");
  worth.tokens.cached = count(row.cached_tokens, "cached_tokens");
  worth.tokens.cache_creation = count(row.cache_creation_tokens, "cache_creation_tokens");
  worth.tokens.reasoning = count(row.reasoning_tokens, "reasoning_tokens");
  return worth;
}

void LedgerCounter::count_spend(const LedgerRow& row, const Worth& worth, Known& known,
                                std::vector<RowCount>& counts) {
  SpendRow spend;
  spend.provider_model = row.model;
  spend.tokens = worth.tokens;
  spend.recorded = {worth.cost};
  spend.at = row.end;
  spend.failed = has_failed(row);
  spend.from_cache = is_from_cache(row);
  spend.is_request = !is_attempt(row);
  spend.is_probe = is_health_check(row);
  spend.has_details = !row.prompt_details.empty() && row.prompt_details != "{}";
  SpendAmounts amounts;
  amounts.add(spend, pricer_.price(spend));
  for (SpendCells& of : known.spend) {
    for (std::size_t kind = 0; kind < kSpendKinds; ++kind) {
      if (amounts.values[kind] == 0) continue;
      std::optional<CellId>& id = of.cells[kind];
      if (!id) {
        Labels labels = of.labels;
        labels.set(std::string(kSpendKindLabel),
                   std::string(to_string(static_cast<SpendKind>(kind))));
        id = cell(of.signal, labels);
      }
      counts.push_back({of.signal, *id, amounts.values[kind], 0});
    }
  }
}

std::int64_t LedgerCounter::value(Amount amount, const LedgerRow& row, const Worth& worth) {
  switch (amount) {
    case Amount::rows:
      return 1;
    case Amount::cost:
      return worth.cost;
    case Amount::paid_tokens:
      return is_paid(row, worth.cost) ? add_held(worth.tokens.prompt, worth.tokens.completion) : 0;
    case Amount::completion_tokens:
      return worth.tokens.completion;
    case Amount::reasoning_tokens:
      return worth.tokens.reasoning;
  }
  return 0;
}

void LedgerCounter::count(std::string_view id, Timestamp end, SqlRow values,
                          std::vector<RowCount>& counts) {
  const LedgerRow row = ledger_row(id, end, values);
  saw_rows_ = true;
  says_original_ |= !row.original_model_group.empty();
  look_for_finish_reasons(row);
  Known& into = known(row);
  if (into.uses.empty() && into.spend.empty()) return;
  const Worth worth = worth_of(row);
  for (const Use& use : into.uses) {
    const std::int64_t n = use.times_n == 0 ? 0 : use.times_n * value(use.amount_n, row, worth);
    const std::int64_t k = use.times_k == 0 ? 0 : use.times_k * value(use.amount_k, row, worth);
    if (n != 0 || k != 0) counts.push_back({use.signal, use.cell, n, k});
  }
  if (!into.spend.empty()) count_spend(row, worth, into, counts);
  if (into.leak) note_leak(*into.leak, row);
}

// The first few of each way out are enough to find the others.
void LedgerCounter::note_leak(const Leak& leak, const LedgerRow& row) {
  const Labels& labels = signals_[leak.signal].cells[leak.cell];
  Evidence evidence{leak.signal, labels, row.end, "request", describe_request(row)};
  const auto alike =
      std::ranges::count_if(evidence_, [&](const Evidence& e) { return e.labels == labels; });
  if (static_cast<std::size_t>(alike) >= kMostEvidence) return;
  if (std::ranges::find(evidence_, evidence) == evidence_.end()) {
    evidence_.push_back(std::move(evidence));
  }
}

// Asked for, and none of many answers has one: the gateway doesn't keep them.
void LedgerCounter::look_for_finish_reasons(const LedgerRow& row) {
  constexpr int kEnough = 100;
  if (!wants_finish_reasons_ || answers_ < 0 || has_failed(row)) return;
  if (!row.finish_reason.empty()) {
    answers_ = -1;
  } else if (++answers_ == kEnough) {
    problems_.push_back({"no_finish_reason", std::string(kLedgerTable),
                         "the gateway keeps no answers, so those that were cut off can't be seen: "
                         "set general_settings.store_prompts_in_spend_logs there, or remove "
                         "finish_reasons here"});
    answers_ = -1;
  }
}

std::vector<Evidence> LedgerCounter::take_evidence() { return std::exchange(evidence_, {}); }

std::vector<Problem> LedgerCounter::take_problems() { return std::exchange(problems_, {}); }

std::vector<std::string> LedgerCounter::facts() const {
  if (!saw_rows_ || says_original_) return {};
  return {
      "rows of this gateway version don't name the model that was asked for: what a fallback "
      "served "
      "is booked on the fallback"};
}

}  // namespace outcomed::litellm
