#include "queries/recording/sample_store.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace outcomed {
namespace {

std::vector<Sample> read_all(const SampleColumn& column) {
  std::vector<Sample> samples;
  SampleColumn::Cursor cursor;
  Sample sample;
  while (column.next(cursor, sample)) samples.push_back(sample);
  return samples;
}

void expect_same(const std::vector<Sample>& got, const std::vector<Sample>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].at_ms, wanted[i].at_ms) << i;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(got[i].value),
              std::bit_cast<std::uint64_t>(wanted[i].value))
        << i;
  }
}

TEST(SampleColumn, GivesBackExactlyWhatWentIn) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<Sample> samples = {{0, 0},
                                       {1, -0.0},
                                       {1, 5},
                                       {-7, 0.1},
                                       {kMax, 1e300},
                                       {-kMax, 3},
                                       {5, kInf},
                                       {6, -kInf},
                                       {7, NAN},
                                       {8, 9007199254740991.0},
                                       {9, -9007199254740991.0},
                                       {10, 9007199254740993.0},
                                       {11, 1},
                                       {12, 2.5},
                                       {13, 3},
                                       {14, 0},
                                       {15, 1e-320}};
  SampleColumn column;
  for (const Sample& sample : samples) column.add(sample);
  expect_same(read_all(column), samples);
}

TEST(SampleColumn, GivesBackRandomCounters) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Sample> samples;
    SampleColumn column;
    std::int64_t at = static_cast<std::int64_t>(random() % 2'000'000'000'000);
    double value = 0;
    for (int i = 0; i < 200; ++i) {
      at += static_cast<std::int64_t>(random() % 60'001);
      switch (random() % 8) {
        case 0:
          value = 0;
          break;
        case 1:
          value += 0.25;
          break;
        case 2:
          value = std::bit_cast<double>(random());
          break;
        default:
          value += static_cast<double>(random() % 1000);
      }
      samples.push_back({at, value});
      column.add(samples.back());
    }
    expect_same(read_all(column), samples);
    EXPECT_TRUE(column.ascending());
  }
}

TEST(SampleColumn, TakesAFewBytesForASteadyCounter) {
  SampleColumn column;
  for (int i = 0; i < 10'000; ++i) column.add({1'796'005'700'000 + i * 60'000, i * 30.0});
  EXPECT_LE(column.bytes(), 10'000u * 3);
}

TEST(SampleColumn, SortsAndKeepsTheFirstOfSeveralAtOneTime) {
  SampleColumn column;
  for (const Sample& sample : std::vector<Sample>{{30, 3}, {10, 1}, {20, 2}, {10, 9}, {30, 8}}) {
    column.add(sample);
  }
  EXPECT_FALSE(column.ascending());
  column.sort();
  EXPECT_TRUE(column.ascending());
  expect_same(read_all(column), {{10, 1}, {20, 2}, {30, 3}});
}

}  // namespace
}  // namespace outcomed
