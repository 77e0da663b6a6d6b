// Long catch-ups are read in pieces that fit the memory.
#include "daemon/engine/chunk_length.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Fetch fetched(Duration length, std::uint64_t samples, std::size_t cells) {
  SignalBatch batch;
  batch.range = {Timestamp{}, Timestamp{} + length};
  batch.step = minutes(1);
  batch.n.resize(cells * static_cast<std::size_t>(length / minutes(1)));
  Fetch fetch;
  fetch.batches.push_back(std::move(batch));
  fetch.samples = samples;
  return fetch;
}

TEST(ChunkLength, TheFirstPieceIsShort) {
  const ChunkLength chunk(1'000'000);
  EXPECT_EQ(chunk.next(minutes(1)), minutes(16));
  EXPECT_EQ(chunk.next(seconds(5)), minutes(16));
  EXPECT_EQ(chunk.next(hours(24)), hours(24)) << "a step is never cut";
}

TEST(ChunkLength, GrowsToWhatFits) {
  ChunkLength chunk(1'000'000);
  for (int i = 0; i < 5; ++i) {
    const Duration length = chunk.next(minutes(1));
    chunk.learn(fetched(length, 400 * static_cast<std::uint64_t>(length / minutes(1)), 100));
  }
  EXPECT_EQ(chunk.next(minutes(1)), minutes(2'000)) << "500 values a minute";
}

TEST(ChunkLength, GrowsStepByStepSinceQuietTimesTellLittle) {
  ChunkLength chunk(1'000'000);
  chunk.learn(fetched(minutes(16), 0, 0));
  EXPECT_EQ(chunk.next(minutes(1)), minutes(128));
  for (int i = 0; i < 10; ++i) chunk.learn(fetched(chunk.next(minutes(1)), 0, 0));
  EXPECT_EQ(chunk.next(minutes(1)), minutes(8'192)) << "never without end";
}

TEST(ChunkLength, ShrinksAtOnce) {
  ChunkLength chunk(1'000'000);
  for (int i = 0; i < 10; ++i) chunk.learn(fetched(chunk.next(minutes(1)), 0, 0));
  chunk.learn(fetched(hours(24), 14'400'000, 0));
  EXPECT_EQ(chunk.next(minutes(1)), minutes(100));
  chunk.learn(fetched(minutes(1), 200'000, 0));
  EXPECT_EQ(chunk.next(minutes(1)), minutes(16)) << "never below: range reads would cost more";
}

TEST(ChunkLength, AFetchWithoutSignalsTellsNothing) {
  ChunkLength chunk(1'000'000);
  chunk.learn(Fetch{});
  EXPECT_EQ(chunk.next(minutes(1)), minutes(16));
}

}  // namespace
}  // namespace outcomed
