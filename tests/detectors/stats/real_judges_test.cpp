// Real judge pairs (shared data of WMT22 and MT-bench; see the README of the data folder) against
// figures made with scipy 1.10: the file with the data is read where it lies, the figures stand
// here.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "detectors/stats/rescore.h"
#include "tests/detectors/stats/real_judge_figures.h"

namespace outcomed {
namespace {

using testing::DecisionFigures;
using testing::kDecisions;
using testing::kPaired;
using testing::PairedFigures;
using testing::RealCounts;

using CsvTable = std::vector<std::map<std::string, std::string>>;

// Plain CSV without quotes; empty where the file isn't here.
CsvTable read_table(const std::string& name) {
  std::ifstream in(std::filesystem::path(OUTCOMED_DATA) / name);
  CsvTable table;
  std::vector<std::string> header;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
    if (header.empty()) {
      header = cells;
      continue;
    }
    auto& row = table.emplace_back();
    for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i) row[header[i]] = cells[i];
  }
  return table;
}

// The same few files for every test.
const CsvTable& table_of(const std::string& kind) {
  static std::map<std::string, CsvTable> tables;
  const auto [at, added] = tables.try_emplace(kind);
  if (added) {
    at->second = read_table(kind == "668"    ? "gemba_paired_668.csv"
                            : kind == "full" ? "gemba_contingency.csv"
                                             : "mtbench_two_models_gpt4_judge.csv");
  }
  return at->second;
}

std::vector<ScoredItem> items_of(const std::string& kind, const std::string& old_judge,
                                 const std::string& new_judge, const std::string& feed) {
  std::vector<ScoredItem> items;
  for (auto row : table_of(kind)) {
    if (feed != "all" && row["feed"] != feed) continue;
    ScoredItem item;
    item.feed = feed;
    if (kind != "full") {
      item.old_score = std::stod(row[old_judge]);
      item.new_score = std::stod(row[new_judge]);
      items.push_back(item);
      continue;
    }
    if (row["pair"] != old_judge + ">" + new_judge) continue;
    item.old_score = std::stod(row["old"]);
    item.new_score = std::stod(row["new"]);
    items.insert(items.end(), std::stoul(row["count"]), item);
  }
  return items;
}

FeedReport report_on(const std::vector<ScoredItem>& items, double threshold) {
  const auto report = rescore(items, {threshold, {}});
  EXPECT_TRUE(report);
  return report->pooled;
}

class RealJudges : public ::testing::TestWithParam<PairedFigures> {};

const std::string kAbsent = std::string("the scores of real judges are not in ") + OUTCOMED_DATA +
                            " (set OUTCOMED_DATA to the folder that holds gemba_paired_668.csv)";

TEST_P(RealJudges, HaveTheFiguresOfScipy) {
  const PairedFigures& wanted = GetParam();
  if (table_of(wanted.kind).empty()) GTEST_SKIP() << kAbsent;
  const FeedReport got =
      report_on(items_of(wanted.kind, wanted.old_judge, wanted.new_judge, wanted.feed), 5);
  constexpr double near = 1e-9;
  EXPECT_EQ(got.n, wanted.n);
  EXPECT_NEAR(got.ranks.spearman.value(), wanted.spearman, near);
  EXPECT_NEAR(got.ranks.kendall_tau_b.value(), wanted.tau, near);
  EXPECT_NEAR(got.shift.mean, wanted.shift, near);
  EXPECT_NEAR(got.shift.deviation, wanted.shift_deviation, near);
  EXPECT_NEAR(got.up.value.value(), wanted.up, near);
  EXPECT_NEAR(got.equal.value.value(), wanted.equal, near);
  EXPECT_NEAR(got.distance.ks, wanted.ks, near);
  EXPECT_NEAR(got.distance.wasserstein, wanted.w1, near);
  EXPECT_NEAR(got.distance.energy, wanted.energy, near);
  EXPECT_NEAR(got.distance.jensen_shannon, wanted.js, near);
  EXPECT_NEAR(got.distance.psi, wanted.psi, near);
  EXPECT_NEAR(got.distance.hellinger, wanted.hellinger, near);
}

INSTANTIATE_TEST_SUITE_P(Pairs, RealJudges, ::testing::ValuesIn(kPaired));

void expect_counts(const DecisionTable& got, const RealCounts& wanted) {
  EXPECT_EQ(got.both.items, wanted.tp);
  EXPECT_EQ(got.only_new.items, wanted.fp);
  EXPECT_EQ(got.only_old.items, wanted.fn);
  EXPECT_EQ(got.neither.items, wanted.tn);
}

class RealDecisions : public ::testing::TestWithParam<DecisionFigures> {};

TEST_P(RealDecisions, AreCountedAndMatchedAsInTheReference) {
  const DecisionFigures& wanted = GetParam();
  if (table_of("668").empty()) GTEST_SKIP() << kAbsent;
  const FeedReport got =
      report_on(items_of("668", wanted.old_judge, wanted.new_judge, wanted.feed), wanted.threshold);
  constexpr double near = 1e-9;
  EXPECT_NEAR(got.share_old.value.value(), wanted.old_share, near);
  expect_counts(got.at_old_threshold.table, wanted.same);
  EXPECT_NEAR(got.auc.value(), wanted.auc, near);
  EXPECT_NEAR(got.match.tie_fraction, wanted.tie_fraction, near);
  ASSERT_EQ(got.match.thresholds.size(), 2U);
  EXPECT_EQ(got.match.thresholds[0].threshold, wanted.low);
  EXPECT_NEAR(got.match.thresholds[0].share.value.value(), wanted.low_share, near);
  EXPECT_NEAR(got.match.thresholds[1].share.value.value(), wanted.high_share, near);
  expect_counts(got.at_match.at(0).table, wanted.at_low);
  if (wanted.high_share > 0) {
    EXPECT_EQ(got.match.verdict, MatchVerdict::bracketed);
    EXPECT_EQ(got.match.thresholds[1].threshold, wanted.high);
    expect_counts(got.at_match.at(1).table, wanted.at_high);
  } else {
    EXPECT_EQ(got.match.verdict, MatchVerdict::impossible);
    EXPECT_FALSE(got.match.thresholds[1].threshold);
  }
}

INSTANTIATE_TEST_SUITE_P(Thresholds, RealDecisions, ::testing::ValuesIn(kDecisions));

TEST(RealJudgeIntervals, AreThoseOfTheJackknifeOnFishersScale) {
  if (table_of("668").empty()) GTEST_SKIP() << kAbsent;
  const auto expect = [](const char* old_judge, const char* new_judge, double low, double high) {
    const auto interval =
        report_on(items_of("668", old_judge, new_judge, "all"), 5).ranks.interval.value();
    EXPECT_NEAR(interval.low, low, 1e-9) << old_judge;
    EXPECT_NEAR(interval.high, high, 1e-9) << old_judge;
  };
  expect("dav2", "dav3", 0.4127702112944716, 0.5376131858343124);
  expect("turbo", "gpt4", 0.5955452647962808, 0.6986322859745671);
  expect("turbostars", "gpt4stars", 0.47374889296959755, 0.5731240454063569);
}

TEST(RealJudgeIntervals, OfTheMeanShiftAgreeWithTheReferenceToItsDigits) {
  if (table_of("668").empty()) GTEST_SKIP() << kAbsent;
  const auto interval =
      report_on(items_of("668", "dav2", "dav3", "all"), 90).shift.interval.value();
  EXPECT_NEAR(interval.low, 7.37, .005);
  EXPECT_NEAR(interval.high, 9.10, .005);
}

// Samples of n from the whole population of a real pair of judges: how often does the interval hold
// the population's correlation?
struct RealPopulation {
  const char* old_judge;
  const char* new_judge;
  const char* feed;
};

void PrintTo(const RealPopulation& population, std::ostream* out) {
  *out << population.old_judge << "_" << population.new_judge << "_" << population.feed;
}

class RealCoverage : public ::testing::TestWithParam<RealPopulation> {};

TEST_P(RealCoverage, OfTheJackknifeIntervalIsAsPromised) {
  if (table_of("full").empty()) GTEST_SKIP() << kAbsent;
  const auto& [old_judge, new_judge, feed] = GetParam();
  std::vector<ScorePair> population;
  for (const ScoredItem& item : items_of("full", old_judge, new_judge, feed)) {
    population.push_back({item.old_score, item.new_score});
  }
  const double truth = rank_correlation(make_pair_table(population)).spearman.value();
  std::mt19937_64 random(20260101);
  for (const std::size_t n : {std::size_t{223}, std::size_t{668}}) {
    constexpr int kSamples = 2000;
    int held = 0;
    std::vector<ScorePair> sample(n);
    for (int i = 0; i < kSamples; ++i) {
      for (ScorePair& pair : sample) pair = population[random() % population.size()];
      const auto interval = rank_correlation(make_pair_table(sample)).interval.value();
      held += interval.low <= truth && truth <= interval.high;
    }
    const double coverage = static_cast<double>(held) / kSamples;
    RecordProperty("coverage_" + std::to_string(n), std::to_string(coverage));
    EXPECT_GE(coverage, .93) << n;
    EXPECT_LE(coverage, .97) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Populations, RealCoverage,
                         ::testing::Values(RealPopulation{"dav2", "dav3", "en-de"},
                                           RealPopulation{"dav2", "dav3", "zh-en"},
                                           RealPopulation{"turbo", "gpt4", "en-de"},
                                           RealPopulation{"turbo", "gpt4", "zh-en"},
                                           RealPopulation{"turbostars", "gpt4stars", "en-de"}));

}  // namespace
}  // namespace outcomed
