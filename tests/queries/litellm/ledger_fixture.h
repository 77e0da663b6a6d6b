// Rows of LiteLLM_SpendLogs counted without a database.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "queries/litellm/ledger_counter.h"
#include "queries/litellm/spend_signals.h"
#include "tests/support/client_truth.h"
#include "tests/support/spend_rows.h"

namespace outcomed::testing {

// Counts rows given as columns and metadata, as the database would hand them over.
class Ledger {
 public:
  // The signals of these names, in the preset's order.
  explicit Ledger(const std::vector<std::string>& names,
                  const litellm::LedgerSettings& settings = {}) {
    litellm::SpendSettings preset;
    preset.ledger = settings;
    for (SignalPlan& plan : litellm::spend_signals(preset)) {
      if (std::ranges::find(names, plan.name) != names.end()) plans_.push_back(std::move(plan));
    }
    counter_ = std::make_unique<litellm::LedgerCounter>(plans_, settings);
  }

  void add(const SpendRowText& row) {
    std::vector<std::string> expressions;
    const std::vector<RowColumn>& columns = counter_->table().columns;
    for (const RowColumn& column : columns) expressions.push_back(column.expression);
    auto texts = take_from_metadata(row.at("metadata"), expressions);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto found = row.find(columns[i].name);
      if (found == row.end() || expressions[i] == "null") continue;
      if (expressions[i].empty()) texts[i] = {true, found->second};
      // What PostgreSQL makes of these two is tested there.
      if (columns[i].name == "api_base") {
        texts[i] = {true, found->second.empty() ? "none" : found->second};
      }
      if (columns[i].name == "response") texts[i] = finish_reason_of(found->second);
    }
    std::vector<SqlValue> values;
    for (const auto& text : texts) values.push_back(text.there ? SqlValue(text.text) : SqlValue());
    std::vector<RowCount> counts;
    counter_->count(row.at("request_id"), Timestamp{}, values, counts);
    for (const RowCount& count : counts) {
      auto& sum = sums_[{count.signal, count.cell}];
      sum.first += count.n;
      sum.second += count.k;
    }
  }

  // Sums over the cells whose labels are those given.
  std::pair<std::int64_t, std::int64_t> sum(std::size_t signal, const Labels& labels) const {
    std::pair<std::int64_t, std::int64_t> total;
    for (const auto& [key, value] : sums_) {
      if (key.first != signal) continue;
      const Labels& cell = counter_->cells(signal)[key.second];
      bool fits = true;
      for (const auto& [name, text] : labels.pairs()) fits = fits && cell.get(name) == text;
      if (!fits) continue;
      total.first += value.first;
      total.second += value.second;
    }
    return total;
  }
  Truth truth() const {
    Truth truth;
    for (const auto& [key, value] : sums_) {
      const Labels& cell = counter_->cells(key.first)[key.second];
      const std::string model(cell.get("model"));
      if (value.first > 0) truth.n[model] += value.first;
      if (value.second > 0) {
        truth.k[{model, std::string(cell.get("error_class"))}] += value.second;
      }
    }
    return truth;
  }
  const std::vector<SignalPlan>& plans() const { return plans_; }
  litellm::LedgerCounter& counter() { return *counter_; }

 private:
  static MaybeText finish_reason_of(const std::string& response) {
    const auto at = response.find("\"finish_reason\": \"");
    if (at == std::string::npos) return {};
    const auto begin = at + 18;
    return {true, response.substr(begin, response.find('"', begin) - begin)};
  }

  std::vector<SignalPlan> plans_;
  std::unique_ptr<litellm::LedgerCounter> counter_;
  std::map<std::pair<std::size_t, CellId>, std::pair<std::int64_t, std::int64_t>> sums_;
};

inline SpendRowText served(std::string id = "r1") {
  return {{"request_id", std::move(id)},
          {"status", "success"},
          {"model", "openai/gpt-4o"},
          {"model_group", "gpt-4o"},
          {"model_id", "eu-1"},
          {"api_key", "key"},
          {"spend", "0.0003"},
          {"prompt_tokens", "50"},
          {"completion_tokens", "20"},
          {"metadata",
           R"({"user_api_key_alias": "batch", "usage_object": {"completion_tokens": 20,
               "completion_tokens_details": {"reasoning_tokens": 8},
               "prompt_tokens_details": {"cached_tokens": 16}}})"}};
}

}  // namespace outcomed::testing
