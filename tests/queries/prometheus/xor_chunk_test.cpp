#include "queries/prometheus/xor_chunk.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/queries/prometheus/mutations.h"
#include "tests/queries/prometheus/xor_encoder.h"

namespace outcomed {
namespace {

constexpr std::uint64_t kStaleBits = 0x7ff0000000000002;

std::vector<Sample> decoded(const std::string& chunk) {
  std::vector<Sample> samples;
  const Status status = decode_xor_chunk(chunk, samples);
  EXPECT_TRUE(status) << status.error().message;
  return samples;
}

// Bit for bit, so that stale markers count too.
void expect_equal(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].at_ms, b[i].at_ms) << i;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(a[i].value), std::bit_cast<std::uint64_t>(b[i].value))
        << i;
  }
}

// A counter as it is scraped: jitter, gaps of many lengths, resets, stale markers, odd values.
std::vector<Sample> random_series(std::mt19937_64& random, std::size_t count) {
  std::vector<Sample> samples;
  std::int64_t at = static_cast<std::int64_t>(random() % 4'000'000'000'000) - 1'000'000'000'000;
  double value = double(random() % 1000);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t step = 15'000;
    switch (random() % 16) {
      case 0:
        step += static_cast<std::int64_t>(random() % 100) - 50;
        break;
      case 1:
        step = static_cast<std::int64_t>(1 + random() % (UINT64_C(1) << (random() % 38)));
        break;
      default:
        break;
    }
    at += step;
    double shown = value;
    switch (random() % 20) {
      case 0:
        value = 0;
        break;
      case 1:
        shown = std::bit_cast<double>(kStaleBits);
        break;
      case 2:
        shown = std::bit_cast<double>(random());
        break;
      case 3:
        shown = value = value + 0.1;
        break;
      default:
        shown = value = value + double(random() % 5);
    }
    samples.push_back({at, shown});
  }
  return samples;
}

TEST(XorChunk, ComesBackAsItWasWritten) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto samples = random_series(random, 1 + random() % 300);
    expect_equal(decoded(XorEncoder::encode(samples)), samples);
  }
}

TEST(XorChunk, EveryWidthOfATimeStepIsRead) {
  // Around each border of the prefix code, where the lowest number is written as a positive one.
  std::vector<Sample> samples{{0, 1}, {100'000'000, 1}};
  std::int64_t step = 100'000'000;
  for (const std::int64_t width : {14, 17, 20}) {
    for (const std::int64_t off : {-1, 0, 1}) {
      for (const std::int64_t sign : {-1, 1}) {
        step += sign * ((INT64_C(1) << (width - 1)) + off);
        samples.push_back({samples.back().at_ms + step, 1});
      }
    }
  }
  expect_equal(decoded(XorEncoder::encode(samples)), samples);
}

TEST(XorChunk, EmptyAndSingleSampleChunks) {
  EXPECT_TRUE(decoded(std::string(2, '\0')).empty());
  expect_equal(decoded(XorEncoder::encode({{-5, 2.5}})), {{-5, 2.5}});
}

TEST(XorChunk, StaleMarkersComeOutAsNaN) {
  const auto samples =
      decoded(XorEncoder::encode({{1, 4}, {2, std::bit_cast<double>(kStaleBits)}}));
  EXPECT_TRUE(std::isnan(samples[1].value));
}

TEST(XorChunk, ACutOffChunkIsCorrupt) {
  std::mt19937_64 random(3);
  const std::string chunk = XorEncoder::encode(random_series(random, 120));
  for (std::size_t size = 0; size < chunk.size(); ++size) {
    std::vector<Sample> samples;
    const Status status = decode_xor_chunk(chunk.substr(0, size), samples);
    ASSERT_FALSE(status) << size;
    EXPECT_EQ(status.error().kind, ErrorKind::corrupt);
  }
}

TEST(XorChunk, AClaimOfMoreSamplesThanFitIsRefusedBeforeMemoryIsTaken) {
  std::vector<Sample> samples;
  EXPECT_FALSE(decode_xor_chunk("\xff\xff" + std::string(20, '\0'), samples));
  EXPECT_LE(samples.capacity(), 200U);
}

TEST(XorChunk, TimesThatDoNotRiseAreCorrupt) {
  for (const std::int64_t second : {10, 9}) {
    std::vector<Sample> samples;
    const Status status =
        decode_xor_chunk(XorEncoder::encode({{0, 1}, {10, 1}, {second, 1}, {30, 1}}), samples);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::corrupt);
  }
}

TEST(XorChunk, DamagedChunksNeverCrashAndNeverGiveTimesThatFall) {
  std::mt19937_64 random(11);
  Mutations mutations(11);
  std::vector<Sample> samples;
  for (int i = 0; i < 20'000; ++i) {
    const std::string chunk = XorEncoder::encode(random_series(random, 1 + random() % 130));
    const std::string damaged = mutations.damage(chunk);
    if (!decode_xor_chunk(damaged, samples)) continue;
    ASSERT_LE(samples.size(), 4 * damaged.size());
    for (std::size_t k = 1; k < samples.size(); ++k)
      ASSERT_LT(samples[k - 1].at_ms, samples[k].at_ms);
  }
}

}  // namespace
}  // namespace outcomed
