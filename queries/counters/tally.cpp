#include "queries/counters/tally.h"

#include <algorithm>

namespace outcomed {

Tally::Tally(const SignalPlan& plan) : plan_(&plan), failure_labels_(plan.labels) {
  failure_labels_.insert(failure_labels_.end(), plan.failure_labels.begin(),
                         plan.failure_labels.end());
  takes_ = std::ranges::any_of(plan.terms, [](const CounterTerm& term) { return term.sign < 0; });
}

CellId Tally::cell(Labels labels) {
  const auto [found, fresh] = ids_.try_emplace(labels, static_cast<CellId>(cells_.size()));
  if (fresh) cells_.push_back(std::move(labels));
  return found->second;
}

void Tally::contributions(const Labels& raw, std::uint32_t signal, std::vector<Contribution>& out) {
  const std::string_view metric = raw.get("__name__");
  for (const CounterTerm& term : plan_->terms) {
    if (term.selector.metric != metric || !all_match(term.selector.matchers, raw)) continue;
    const std::optional<Labels> labels = term.labels(raw);
    if (!labels) continue;
    Contribution to{signal, Contribution::kNone, Contribution::kNone, term.sign, term.calibrated};
    if (term.counts_n) to.n_cell = cell(labels->project(plan_->labels));
    if (term.counts_k) {
      to.k_cell = cell(labels->project(failure_labels_));
      requests_of_[to.k_cell] = cell(labels->project(plan_->labels));
    }
    out.push_back(to);
  }
}

void Tally::begin(TimeRange range) {
  range_ = range;
  steps_ = static_cast<std::size_t>(range.length() / plan_->step);
  const std::size_t size = cells_.size() * steps_;
  n_.assign(size, 0);
  net_.assign(takes_ ? size : 0, 0);
  k_.assign(size, 0);
}

Tally::Rows Tally::rows(const Contribution& to) {
  const bool fails = to.k_cell != Contribution::kNone;
  Rows rows;
  if (steps_ == 0) return rows;
  if (fails) rows.k = &k_[to.k_cell * steps_];
  if (to.n_cell != Contribution::kNone) {
    rows.n = fails || !takes_ ? &n_[to.n_cell * steps_] : &net_[to.n_cell * steps_];
    rows.sign = fails ? 1 : to.sign;
  }
  return rows;
}

void Tally::settle_debts() {
  for (CellId id = 0; id < cells_.size(); ++id) {
    const auto owed = debts_.find(id);
    std::int64_t debt = owed == debts_.end() ? 0 : owed->second;
    for (std::size_t step = 0; step < steps_; ++step) {
      debt += net_[id * steps_ + step];
      if (debt <= 0) continue;
      n_[id * steps_ + step] += debt;
      debt = 0;
    }
    if (debt < 0)
      debts_[id] = debt;
    else if (owed != debts_.end())
      debts_.erase(id);
  }
}

void Tally::count_failures_as_requests() {
  if (steps_ == 0) return;
  std::vector<std::pair<CellId, CellId>> pairs;  // Denominator, failures.
  for (const auto& [k_cell, n_cell] : requests_of_) pairs.emplace_back(n_cell, k_cell);
  std::ranges::sort(pairs);
  std::vector<std::int64_t> failures(steps_);
  for (auto pair = pairs.begin(); pair != pairs.end();) {
    const CellId n_cell = pair->first;
    std::ranges::fill(failures, 0);
    for (; pair != pairs.end() && pair->first == n_cell; ++pair) {
      const std::int64_t* const k = &k_[pair->second * steps_];
      for (std::size_t step = 0; step < steps_; ++step) failures[step] += k[step];
    }
    std::int64_t* const n = &n_[n_cell * steps_];
    for (std::size_t step = 0; step < steps_; ++step) n[step] = std::max(n[step], failures[step]);
  }
}

SignalBatch Tally::finish(const std::vector<Coverage>& coverage) {
  if (takes_) settle_debts();
  count_failures_as_requests();
  return {range_, plan_->step, coverage, std::move(n_), std::move(k_)};
}

void Tally::save(Writer& writer) const {
  writer.u64(debts_.size());
  for (const auto& [id, debt] : debts_) {
    writer.labels(cells_[id]);
    writer.i64(debt);
  }
}

bool Tally::load(Reader& reader) {
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    const CellId id = cell(reader.labels());
    debts_[id] = reader.i64();
  }
  if (!takes_) debts_.clear();
  return reader.ok();
}

}  // namespace outcomed
