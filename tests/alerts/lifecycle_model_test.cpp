// The state machine beside a plain model of it, over random histories.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "alerts/lifecycle.h"

namespace outcomed {
namespace {

constexpr Timestamp kStart = from_unix_ms(1'796'000'000'000);

// What the header promises, written down once more as a plain list of what happened in this run.
class PlainModel {
 public:
  explicit PlainModel(AlertPolicy policy) : policy_(policy) {}

  std::optional<Change> bucket(Judgement judgement, Timestamp at) {
    if (at <= last_) return std::nullopt;
    const Duration passed = at - last_;
    last_ = at;
    const bool known = judgement == Judgement::breached || judgement == Judgement::healthy ||
                       judgement == Judgement::lingering;
    if (!known) {
      if (active_) blind_ += passed;
      if (judgement != Judgement::too_few || !active_) return std::nullopt;
      scarce_ += passed;
      return scarce_ > policy_.patience ? std::optional(end()) : std::nullopt;
    }
    scarce_ = Duration::zero();
    const bool bad =
        judgement == Judgement::breached || (judgement == Judgement::lingering && fires_);
    if (bad) {
      good_since_ = {};
      const bool first = !active_;
      if (first) {
        first_bad_ = at;
        blind_ = Duration::zero();
      }
      active_ = true;
      if (!fires_ && at - first_bad_ >= policy_.hold + blind_) {
        fires_ = true;
        return Change::fired;
      }
      return first ? std::optional(Change::started) : std::nullopt;
    }
    if (!active_) return std::nullopt;
    if (good_since_ == Timestamp{}) good_since_ = at;
    if (fires_ && at - good_since_ < policy_.keep_firing) return std::nullopt;
    return end();
  }
  [[nodiscard]] Phase phase() const {
    return fires_ ? Phase::firing : active_ ? Phase::pending : Phase::inactive;
  }

 private:
  Change end() {
    const Change change = fires_ ? Change::resolved : Change::dropped;
    active_ = fires_ = false;
    good_since_ = {};
    scarce_ = Duration::zero();
    return change;
  }

  const AlertPolicy policy_;
  bool active_ = false;
  bool fires_ = false;
  Timestamp first_bad_;
  Timestamp last_;
  Timestamp good_since_;  // The epoch: not good.
  Duration blind_{};      // Time without a judgement since first_bad_.
  Duration scarce_{};     // Time with too few since the last judgement.
};

struct Heard {
  Judgement judgement;
  Timestamp at;
};

// Rules that hold for every history, read off the whole of it.
void check_promises(const std::vector<Heard>& history, const AlertState& before, const Step& next,
                    const AlertPolicy& policy) {
  const Heard& last = history.back();
  if (!next.transition) {
    EXPECT_EQ(next.state.phase, before.phase);
    return;
  }
  const bool judged = last.judgement == Judgement::breached ||
                      last.judgement == Judgement::healthy ||
                      last.judgement == Judgement::lingering;
  EXPECT_TRUE(judged || last.judgement == Judgement::too_few);
  switch (next.transition->change) {
    case Change::started:
      EXPECT_EQ(before.phase, Phase::inactive);
      EXPECT_EQ(last.judgement, Judgement::breached);
      break;
    case Change::dropped:
      EXPECT_EQ(before.phase, Phase::pending);
      EXPECT_NE(last.judgement, Judgement::breached);
      break;
    case Change::fired:
      EXPECT_NE(before.phase, Phase::firing);
      EXPECT_EQ(last.judgement, Judgement::breached);
      EXPECT_GE(last.at - next.state.pending_at, policy.hold);
      for (const Heard& heard : history) {  // No good minute since the first bad one.
        if (heard.at < next.state.pending_at) continue;
        EXPECT_NE(heard.judgement, Judgement::healthy);
        EXPECT_NE(heard.judgement, Judgement::lingering);
      }
      break;
    case Change::resolved:
      EXPECT_EQ(before.phase, Phase::firing);
      if (last.judgement == Judgement::too_few) break;
      for (const Heard& heard : history) {
        if (last.at - heard.at >= policy.keep_firing && heard.at != last.at) continue;
        EXPECT_NE(heard.judgement, Judgement::breached);
      }
      break;
  }
}

TEST(Lifecycle, RandomHistoriesAgreeWithAPlainModelAndKeepEveryPromise) {
  constexpr Judgement kAll[] = {Judgement::healthy,   Judgement::breached, Judgement::breached,
                                Judgement::lingering, Judgement::too_few,  Judgement::no_data,
                                Judgement::partial,   Judgement::failed};
  int changes = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const AlertPolicy policy{std::chrono::minutes(random() % 5), std::chrono::minutes(random() % 5),
                             std::chrono::minutes(random() % 6)};
    const std::size_t variety = 2 + random() % (std::size(kAll) - 2);
    PlainModel model(policy);
    AlertState state;
    std::vector<Heard> history;
    Timestamp at = kStart;
    for (int i = 0; i < 60; ++i) {
      // Mostly the next minute; now and then a gap, a repeat or a late bucket.
      const auto kind = random() % 12;
      const Timestamp when = kind == 0
                                 ? at - std::chrono::minutes(random() % 4)
                                 : at + std::chrono::minutes(kind == 1 ? 1 + random() % 9 : 1);
      at = std::max(at, when);
      const Judgement judgement = kAll[random() % (variety + 1)];
      const bool ignored = when <= state.last_step;
      const AlertState before = state;
      const Step next = step(state, judgement, when, when - 1min, policy);
      const auto expected = model.bucket(judgement, when);
      ASSERT_EQ(next.transition.has_value(), expected.has_value()) << "seed " << seed;
      if (expected) {
        ASSERT_EQ(next.transition->change, *expected) << "seed " << seed;
      }
      ASSERT_EQ(next.state.phase, model.phase()) << "seed " << seed;
      if (ignored) {
        ASSERT_EQ(next.state, before);
      } else if (when == at) {
        history.push_back({judgement, when});
        check_promises(history, before, next, policy);
      }
      changes += next.transition ? 1 : 0;
      state = next.state;
      if (HasFailure()) FAIL() << "seed " << seed;
    }
  }
  EXPECT_GT(changes, 20'000);
}

}  // namespace
}  // namespace outcomed
