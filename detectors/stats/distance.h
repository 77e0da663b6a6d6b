// How far apart two distributions over the same points lie. For people to read; nothing may alarm
// on a fixed line through PSI, Jensen-Shannon or a normed Wasserstein distance: without any drift
// they cross the usual lines daily at small n.
#pragma once

#include <span>

#include "queries/base/result.h"

namespace outcomed {

struct DistributionDistance {
  double wasserstein = 0;  // W1 = sum |F - G| dx, in points of the score: how far scores moved.
  double ks = 0;           // max |F - G| (Kolmogorov, Smirnov),
  double ks_cut = 0;  // and where: F and G count what is at or below it. The lowest of several.
  double energy = 0;  // 2 sum (F - G)² dx (G. Szekely; MMD with kernel -|x - y|).
  double psi = 0;     // sum (q - p) ln(q / p), each count + 0.5 first.
  double jensen_shannon = 0;  // sqrt of the divergence to base 2: 0 equal, 1 disjoint.
  double hellinger = 0;       // sqrt(1 - sum sqrt(p q)): 0 equal, 1 disjoint.
};

// points ascend without repeats; first and second hold the counts (or masses) at each point, none
// negative, each with a positive sum. All three have one length. PSI depends on the size of the
// counts through the + 0.5; the others only on shares. Errors: invalid, for anything else.
Result<DistributionDistance> distance_between(std::span<const double> points,
                                              std::span<const double> first,
                                              std::span<const double> second);

// What PSI comes to without any drift, on average: (points - 1)(1/n + 1/m). n, m > 0.
double psi_without_drift(std::size_t points, double n, double m);

}  // namespace outcomed
