// The sums of `surge` alone, told what is normal: what its trigger costs against the best that
// there is.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "detectors/stats/evidence.h"
#include "detectors/stats/tilt.h"
#include "watch.h"

namespace outcomed::bench {

class KnownNormal final : public Watch {
 public:
  // `share` at most is normal, without any wobble; a mean of `minutes` between false pages.
  // `steps`: of a page at least, as one step's evidence counts no more than that part.
  KnownNormal(double share, double minutes, double steps = 3)
      : alternatives_(rise_alternatives(share)),
        tilts_(share, 0, alternatives_),
        sums_(static_cast<Eigen::Index>(alternatives_.size())),
        evidence_(alternatives_.size()),
        level_(std::log(minutes)),
        cap_(level_ / steps) {}

  bool minute(std::int64_t n, std::int64_t k) override {
    if (n == 0) return false;
    const TiltTable::Counts counts = TiltTable::scaled(n, k);
    const TiltTable::Row& row = tilts_.at(counts.n);
    for (std::size_t j = 0; j < evidence_.size(); ++j) {
      evidence_[j] = row.theta[j] * counts.k - row.log_mgf[j];
    }
    sums_.push(evidence_, cap_, ++step_);
    if (sums_.log_sr() < level_) return false;
    sums_.reset();
    return true;
  }
  [[nodiscard]] std::unique_ptr<Watch> copy() const override {
    return std::make_unique<KnownNormal>(*this);
  }

 private:
  std::vector<double> alternatives_;
  TiltTable tilts_;
  EvidenceMixture sums_;
  std::vector<double> evidence_;
  double level_;
  double cap_;
  std::int64_t step_ = 0;
};

}  // namespace outcomed::bench
