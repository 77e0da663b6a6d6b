#include "queries/postgres/postgres_source.h"

#include <fmt/core.h>

namespace outcomed {

Result<std::unique_ptr<PostgresSource>> PostgresSource::make(const PostgresSettings& settings,
                                                             std::vector<SignalPlan> plans,
                                                             std::shared_ptr<SqlClient> client) {
  std::unique_ptr<PostgresSource> source(new PostgresSource(settings, std::move(client)));
  std::vector<SignalPlan> of_rows;
  for (const SignalPlan& plan : plans) {
    if (plan.step != plans.front().step) {
      return Error{ErrorKind::invalid, fmt::format("signals {} and {} have different steps",
                                                   plans.front().name, plan.name)};
    }
    if (!plan.sql.empty()) {
      auto signal = SqlSignal::make(plan);
      if (!signal) return std::move(signal).error();
      source->places_.push_back({false, source->asked_.size()});
      source->asked_.push_back(*std::move(signal));
    } else if (plan.rows) {
      source->places_.push_back({true, of_rows.size()});
      of_rows.push_back(plan);
    } else {
      return Error{ErrorKind::invalid, fmt::format("signal {} has no sql", plan.name)};
    }
  }
  if (!of_rows.empty()) source->rows_.emplace(settings, std::move(of_rows));
  return source;
}

Result<Fetch> PostgresSource::fetch(TimeRange range) {
  if (range.length() <= 0ms) {
    return Error{ErrorKind::invalid, "a range without length was asked for"};
  }
  Fetch of_rows;
  if (rows_) {
    auto read = rows_->read(range, session_);
    if (!read) return std::move(read).error();
    of_rows = *std::move(read);
  }
  Fetch fetch;
  fetch.problems = std::move(of_rows.problems);
  fetch.facts = std::move(of_rows.facts);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    for (const Evidence& of : of_rows.evidence) {
      if (!places_[i].of_rows || places_[i].index != of.signal) continue;
      fetch.evidence.push_back(of);
      fetch.evidence.back().signal = i;
    }
  }
  std::vector<SignalBatch> asked;
  for (SqlSignal& signal : asked_) {
    auto batch = signal.read(range, session_, fetch.problems);
    if (!batch) return std::move(batch).error();
    asked.push_back(*std::move(batch));
  }
  for (const Place& place : places_) {
    auto& batches = place.of_rows ? of_rows.batches : asked;
    fetch.batches.push_back(std::move(batches[place.index]));
  }
  fetch.facts.insert(fetch.facts.end(), session_.facts().begin(), session_.facts().end());
  if (rows_) rows_->commit();
  return fetch;
}

const std::vector<Labels>& PostgresSource::cells(std::size_t signal) const {
  const Place& place = places_[signal];
  return place.of_rows ? rows_->cells(place.index) : asked_[place.index].cells();
}

void PostgresSource::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  const Place& place = places_[signal];
  if (place.of_rows) {
    rows_->seed_cells(place.index, cells);
  } else {
    asked_[place.index].seed_cells(cells);
  }
}

void PostgresSource::save(Writer& writer) const {
  if (rows_) rows_->save(writer);
}

bool PostgresSource::load(Reader& reader) { return !rows_ || rows_->load(reader); }

}  // namespace outcomed
