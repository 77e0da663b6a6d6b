// Two judges' decisions about the same items: an item passes where its score is at or above the
// judge's threshold.
#pragma once

#include <cstdint>
#include <optional>

#include "detectors/sentence.h"
#include "detectors/stats/pair_table.h"

namespace outcomed {

// Items of one kind: how many, their weight, and the sum of squared weights.
struct WeightedCount {
  double items = 0;
  double mass = 0;
  double squares = 0;

  friend WeightedCount operator+(const WeightedCount& a, const WeightedCount& b) {
    return {a.items + b.items, a.mass + b.mass, a.squares + b.squares};
  }
};

// The new judge's decision against the old one's, which is taken as the reference.
struct DecisionTable {
  WeightedCount both;      // tp: both let it pass.
  WeightedCount only_new;  // fp
  WeightedCount only_old;  // fn
  WeightedCount neither;   // tn
};

DecisionTable decision_table(const PairTable& table, double old_threshold, double new_threshold);

// A share with Wilson's 95 % interval at Kish's effective number of items, which is the plain count
// for equal weights. No value where there is nothing to take a share of.
struct ShareEstimate {
  std::optional<double> value;
  Interval interval;
  double effective_n = 0;
};
ShareEstimate share_estimate(const WeightedCount& part, const WeightedCount& whole);

// both / (both + only new): of what the new judge lets pass, what the old one did.
ShareEstimate precision(const DecisionTable& table);
// both / (both + only old): of what the old judge let pass, what the new one does.
ShareEstimate recall(const DecisionTable& table);
// (both + neither) / all.
ShareEstimate agreement(const DecisionTable& table);
ShareEstimate old_share(const DecisionTable& table);
ShareEstimate new_share(const DecisionTable& table);

// Exact two-sided McNemar test (Q. McNemar 1947): min(1, 2 P(X <= min(b, c))), X binomial(b + c,
// 1/2). 1 for b = c = 0. Not negative.
double mcnemar_exact(std::int64_t only_new, std::int64_t only_old);
// The exact test where all items weigh the same. Otherwise counts of the sample are not those of
// the stream, and it is the normal approximation z = (sum of weights of only new - of only old) /
// sqrt(sum of squared weights of both); nothing below 10 flips, where that can't be trusted.
std::optional<double> mcnemar(const DecisionTable& table, bool equal_weights);

// Chance that the new score of an item that the old judge let pass is above that of one that it
// didn't, ties counting half (J. Hanley and B. McNeil 1982). Nothing where all or none passed.
std::optional<double> auc(const PairTable& table, double old_threshold);

}  // namespace outcomed
