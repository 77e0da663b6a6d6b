#include "queries/counters/tally.h"

#include <algorithm>

namespace outcomed {

Tally::Tally(const SignalPlan& plan) : plan_(&plan), failure_labels_(plan.labels) {
  failure_labels_.insert(failure_labels_.end(), plan.failure_labels.begin(),
                         plan.failure_labels.end());
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
  n_.clear();
  net_.clear();
  k_.clear();
}

std::int64_t& Tally::at(std::vector<std::int64_t>& values, CellId cell, std::size_t step) {
  const std::size_t index = cell * steps_ + step;
  if (index >= values.size()) values.resize((cell + 1) * steps_);
  return values[index];
}

void Tally::add(const Contribution& to, std::size_t step, std::int64_t count) {
  if (to.k_cell != Contribution::kNone) {
    at(k_, to.k_cell, step) += count;
    if (to.n_cell != Contribution::kNone) at(n_, to.n_cell, step) += count;
  } else if (to.n_cell != Contribution::kNone) {
    at(net_, to.n_cell, step) += to.sign * count;
  }
}

void Tally::count_failures_as_requests() {
  std::vector<std::int64_t> failures(n_.size());
  for (const auto& [k_cell, n_cell] : requests_of_) {
    for (std::size_t step = 0; step < steps_; ++step) {
      failures[n_cell * steps_ + step] += k_[k_cell * steps_ + step];
    }
  }
  for (std::size_t i = 0; i < n_.size(); ++i) n_[i] = std::max(n_[i], failures[i]);
}

SignalBatch Tally::finish(const std::vector<Coverage>& coverage) {
  const std::size_t size = cells_.size() * steps_;
  n_.resize(size);
  net_.resize(size);
  k_.resize(size);
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
  return reader.ok();
}

}  // namespace outcomed
