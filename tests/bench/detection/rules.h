// Rules that people use, ported to minutes of counts. Written from their published descriptions,
// not run in Prometheus.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "watch.h"

namespace outcomed::bench {

// Sums of the last `minutes`.
class WindowSums {
 public:
  explicit WindowSums(std::size_t minutes) : n_(minutes), k_(minutes) {}
  void push(std::int64_t n, std::int64_t k);
  [[nodiscard]] double share() const { return all_n_ > 0 ? double(all_k_) / double(all_n_) : 0; }

 private:
  std::vector<std::int64_t> n_;
  std::vector<std::int64_t> k_;
  std::size_t next_ = 0;
  std::int64_t all_n_ = 0;
  std::int64_t all_k_ = 0;
};

// More than 10 % of the last hour failed, for 15 minutes.
class ClassicRule final : public Watch {
 public:
  bool minute(std::int64_t n, std::int64_t k) override;
  [[nodiscard]] std::unique_ptr<Watch> copy() const override {
    return std::make_unique<ClassicRule>(*this);
  }

 private:
  WindowSums hour_{60};
  int minutes_ = 0;
};

// Burn rates of an objective of 99 %: 14.4 over 1 h and 5 min, or 6 over 6 h and 30 min (Google,
// Site Reliability Workbook, chapter 5; the two that page).
class BurnRateRule final : public Watch {
 public:
  bool minute(std::int64_t n, std::int64_t k) override;
  [[nodiscard]] std::unique_ptr<Watch> copy() const override {
    return std::make_unique<BurnRateRule>(*this);
  }

 private:
  std::array<WindowSums, 4> windows_{WindowSums(60), WindowSums(5), WindowSums(360),
                                     WindowSums(30)};
};

// grafana/promql-anomaly-detection, adaptive bands for errors: the share of 5 minutes, without the
// zeros, above the largest of 1.5 times its mean of 1 h, that mean + 2 times the mean over 26 h of
// the (not small) deviations of 1 h, and the same bands of yesterday and a week ago; for 5 minutes.
class GrafanaBands final : public Watch {
 public:
  bool minute(std::int64_t n, std::int64_t k) override;
  [[nodiscard]] std::unique_ptr<Watch> copy() const override {
    return std::make_unique<GrafanaBands>(*this);
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  // Values of the last minutes, some of them none.
  class Ring {
   public:
    explicit Ring(std::size_t minutes) : values_(minutes, kNone) {}
    // The value that leaves.
    double push(double value);
    // 1: of the minute before the newest one.
    [[nodiscard]] double back(std::size_t minutes) const {
      return values_[(next_ + values_.size() - 1 - minutes) % values_.size()];
    }

   private:
    std::vector<double> values_;
    std::size_t next_ = 0;
  };
  [[nodiscard]] double upper_band(double mean) const;

  WindowSums level_{5};
  Ring levels_{60};
  Ring deviations_{1560};
  Ring bands_{10'080};
  double sum_ = 0;
  double squares_ = 0;
  int count_ = 0;
  double deviation_sum_ = 0;
  int deviation_count_ = 0;
  int minutes_ = 0;
};

// CUSUM of the log likelihood ratio of two known shares: no detector with the same mean time to a
// false alarm has a smaller worst mean delay (Moustakides, Ann. Statist. 14, 1986). `h` is its
// threshold; after a page it starts anew.
class OracleCusum final : public Watch {
 public:
  OracleCusum(double normal, double changed, double h)
      : bad_(std::log(changed / normal)), good_(std::log((1 - changed) / (1 - normal))), h_(h) {}
  bool minute(std::int64_t n, std::int64_t k) override;
  [[nodiscard]] std::unique_ptr<Watch> copy() const override {
    return std::make_unique<OracleCusum>(*this);
  }

 private:
  double bad_;
  double good_;
  double h_;
  double sum_ = 0;
};

// The threshold with which the oracle has a mean time between false pages of `minutes` at `rate`
// requests a minute, Poisson: from the highest points of its excursions in `simulated` minutes. Far
// out their frequency falls as e^-h (exactly so in the limit, since the mean of e^x is 1), which
// carries it to budgets that can't be simulated.
double oracle_threshold(double rate, double normal, double changed, double minutes,
                        int simulated = 2'000'000);

}  // namespace outcomed::bench
