#include "detectors/stats/ceiling.h"

#include <algorithm>

#include "detectors/stats/beta.h"

namespace outcomed {

BlockMoments block_moments(const Eigen::ArrayXd& k, const Eigen::ArrayXd& n) {
  BlockMoments out;
  out.n = n.sum();
  out.k = k.sum();
  if (out.n <= 0) return out;
  out.share = std::max(out.k, 0.5) / out.n;
  const double variance = out.share * (1 - out.share);
  double below = 0;
  for (Eigen::Index b = 0; b < n.size(); ++b) {
    if (n(b) <= 0) continue;
    ++out.blocks;
    const double off = k(b) - n(b) * out.share;
    if (variance > 0) out.chi2 += off * off / (n(b) * variance);
    below += (n(b) - 1) * (1 - n(b) / out.n);
  }
  if (out.blocks > 1 && below > 0) out.rho = (out.chi2 - double(out.blocks - 1)) / below;
  return out;
}

double learned_ceiling(double p, double rho, double q) {
  const double s = 1 / rho - 1;
  return beta_quantile(q, p * s, (1 - p) * s);
}

void WobbleSums::add(const StepSums& block, double p) {
  if (block.n <= 0) return;
  const double own = (block.k + 20 * p) / (block.n + 20);
  const double variance = own * (1 - own);
  above += block.kk - 2 * own * block.nk + own * own * block.nn - block.n * variance;
  below += (block.nn - block.n) * variance;
}

}  // namespace outcomed
