// Signals counted from rows of LiteLLM_SpendLogs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "queries/litellm/ledger_row.h"
#include "queries/litellm/preset.h"
#include "queries/prices/spend.h"
#include "queries/rows.h"
#include "queries/signal.h"

namespace outcomed::litellm {

struct LedgerSettings {
  // What the providers publish; null where nothing is known of it.
  std::shared_ptr<const PriceTables> prices = nullptr;
  PrivateGroups keep_private = {};
  std::vector<std::string> no_reasoning = {};  // Patterns of consumers.
  bool finish_reasons = false;                 // Whether kept answers are asked how they ended.
};

// Plans are recognised by name: those of spend_signals().
class LedgerCounter final : public RowCounter {
 public:
  // Of one way out of a private group, in one fetch.
  static constexpr std::size_t kMostEvidence = 5;

  explicit LedgerCounter(const std::vector<SignalPlan>& plans, LedgerSettings settings = {});

  [[nodiscard]] const RowTable& table() const override;
  void count(std::string_view id, Timestamp end, SqlRow row,
             std::vector<RowCount>& counts) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) override;
  std::vector<Problem> take_problems() override;
  std::vector<Evidence> take_evidence() override;
  [[nodiscard]] std::vector<std::string> facts() const override;

 private:
  enum class Amount : std::uint8_t { rows, cost, paid_tokens, completion_tokens, reasoning_tokens };
  // What a row adds to a cell: so many times the amounts it holds.
  struct Use {
    std::size_t signal;
    CellId cell;
    Amount amount_n;
    std::int64_t times_n;
    Amount amount_k;
    std::int64_t times_k;
  };
  // The cells of `spend` for one label set, by SpendKind; made when first needed.
  struct SpendCells {
    std::size_t signal;
    Labels labels;
    std::array<std::optional<CellId>, kSpendKinds> cells;
  };
  struct Leak {
    std::size_t signal = 0;
    CellId cell = 0;
  };
  struct Known {
    std::vector<Use> uses;
    std::vector<SpendCells> spend;
    std::optional<Leak> leak;
  };
  struct Worth {
    std::int64_t cost = 0;
    TokenCounts tokens;
  };
  struct Signal {
    SignalPlan plan;
    std::vector<Labels> cells;
    std::unordered_map<Labels, CellId, LabelsHash> ids;
  };

  Known& known(const LedgerRow& row);
  CellId cell(std::size_t signal, const Labels& labels);
  void add(Known& known, std::size_t signal, const Labels& labels, std::int64_t n, std::int64_t k,
           Amount of_n = Amount::rows, Amount of_k = Amount::rows);
  void add_requests(Known& known, std::size_t signal, const LedgerRow& row);
  void add_fallbacks(Known& known, std::size_t signal, const LedgerRow& row);
  void add_absorption(Known& known, std::size_t signal, const LedgerRow& row);
  void add_reasoning(Known& known, std::size_t signal, const LedgerRow& row);
  void add_probes(Known& known, std::size_t signal, const LedgerRow& row, Amount amount);
  void add_waste(Known& known, std::size_t signal, const LedgerRow& row, Amount amount);
  void add_leaks(Known& known, std::size_t signal, const LedgerRow& row);
  void add_spend(Known& known, std::size_t signal, const LedgerRow& row);
  Worth worth_of(const LedgerRow& row);
  static std::int64_t value(Amount amount, const LedgerRow& row, const Worth& worth);
  void note_leak(const Leak& leak, const LedgerRow& row);
  void look_for_finish_reasons(const LedgerRow& row);
  void count_spend(const LedgerRow& row, const Worth& worth, Known& known,
                   std::vector<RowCount>& counts);
  std::int64_t number(bool readable, std::string_view what, std::int64_t value);

  LedgerSettings settings_;
  std::vector<Signal> signals_;
  RowTable table_;
  RowPricer pricer_;
  bool wants_amounts_ = false;
  bool wants_finish_reasons_ = false;
  int answers_ = 0;  // Without a finish reason, until one has it; −1: settled.
  // Rows with the same texts count into the same cells: found by those texts, made once.
  std::unordered_map<std::string, Known> known_;
  std::string key_;
  std::vector<Problem> problems_;
  std::vector<Evidence> evidence_;
  bool says_original_ = false;  // Some row named the model that was asked for.
  bool saw_rows_ = false;
};

}  // namespace outcomed::litellm
