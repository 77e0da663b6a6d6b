// The memory of one group of a price rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detectors/price/findings.h"
#include "detectors/price/price.h"
#include "detectors/price/spend_window.h"
#include "queries/prices/spend.h"

namespace outcomed {

class PriceFold final : public Fold {
 public:
  static constexpr std::size_t kMaxNames = 64;  // Of `compare`; others count in the total alone.

  PriceFold(const PriceDetector& detector, Labels group);

  void advance(const BucketRun& run, std::size_t step) override;
  void add_member(const Labels& labels) override;
  [[nodiscard]] bool breached() const override {
    return findings_.any() && enough_ && coverage_ == Coverage::complete;
  }
  [[nodiscard]] Judgement judgement(std::size_t tier) const override;
  [[nodiscard]] Timestamp onset() const override { return onset_; }
  [[nodiscard]] Verdict verdict(std::size_t tier) const override;
  [[nodiscard]] bool idle() const override { return window_.empty() && days_.empty(); }
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  // A row of the run: which amount, and of which value of `compare`.
  struct Member {
    std::optional<SpendKind> kind;
    std::optional<std::size_t> name;
  };
  struct Name {
    std::string text;
    SpendWindow window;
  };

  [[nodiscard]] std::optional<std::size_t> name_of(const std::string& text);
  void judge();
  // The 28 days but for the window.
  [[nodiscard]] SpendAmounts before() const;
  [[nodiscard]] int known_days_before() const;
  void describe_successes(const PriceReport& report, Verdict& verdict) const;
  [[nodiscard]] bool is_off(std::size_t slots_back) const;
  [[nodiscard]] Timestamp most_likely_onset() const;
  [[nodiscard]] std::vector<NamedCosts> named_costs() const;
  [[nodiscard]] PriceReport report() const;

  const PriceDetector* detector_;
  Labels group_;
  SpendWindow window_;
  SpendWindow days_;  // Of 28 days of UTC.
  std::vector<Member> members_;
  std::vector<Name> names_;
  Coverage coverage_ = Coverage::missing;
  Timestamp at_;
  Timestamp onset_;
  PriceFindings findings_;
  bool enough_ = false;
  bool was_breached_ = false;  // After the last complete step.
};

}  // namespace outcomed
