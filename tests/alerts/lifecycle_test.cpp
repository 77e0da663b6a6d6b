#include "alerts/lifecycle.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string_view>
#include <vector>

namespace outcomed {
namespace {

constexpr Timestamp kStart = from_unix_ms(1'796'000'000'000);

Timestamp at_minute(int minute) { return kStart + std::chrono::minutes(minute); }

// One letter for each minute: B breached, H healthy, L lingering, f too few, . no data, p partial,
// x failed.
Judgement judgement_of(char letter) {
  switch (letter) {
    case 'B':
      return Judgement::breached;
    case 'H':
      return Judgement::healthy;
    case 'L':
      return Judgement::lingering;
    case 'f':
      return Judgement::too_few;
    case 'p':
      return Judgement::partial;
    case 'x':
      return Judgement::failed;
    default:
      return Judgement::no_data;
  }
}

char letter_of(Phase phase) {
  switch (phase) {
    case Phase::inactive:
      return '-';
    case Phase::pending:
      return 'p';
    case Phase::firing:
      return 'F';
  }
  return '?';
}

struct Course {
  std::string phases;       // One letter for each minute.
  std::string transitions;  // "s1 f3 r9": change and minute.
  AlertState state;
};

Course run(std::string_view judgements, const AlertPolicy& policy, AlertState state = {},
           int first_minute = 1) {
  Course out;
  out.state = std::move(state);
  for (std::size_t i = 0; i < judgements.size(); ++i) {
    const int minute = first_minute + static_cast<int>(i);
    Step next = step(out.state, judgement_of(judgements[i]), at_minute(minute),
                     at_minute(minute - 1), policy);
    out.state = next.state;
    out.phases += letter_of(out.state.phase);
    if (next.transition) {
      EXPECT_EQ(next.transition->at, at_minute(minute));
      if (!out.transitions.empty()) out.transitions += ' ';
      out.transitions += to_string(next.transition->change)[0] + std::to_string(minute);
    }
  }
  return out;
}

struct Case {
  std::string_view what;
  AlertPolicy policy;
  std::string_view judgements;
  std::string_view phases;
  std::string_view transitions;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.what; }

class LifecycleTable : public ::testing::TestWithParam<Case> {};

TEST_P(LifecycleTable, GoesThroughThePhases) {
  const Case& c = GetParam();
  ASSERT_EQ(c.judgements.size(), c.phases.size()) << c.what;
  const Course result = run(c.judgements, c.policy);
  EXPECT_EQ(result.phases, c.phases) << c.what;
  EXPECT_EQ(result.transitions, c.transitions) << c.what;
}

const Case kCases[] = {
    {"healthy does nothing", {}, "HHH", "---", ""},
    {"without `for` the first breach fires", {}, "HBBH", "-FF-", "f2 r4"},
    {"`for` counts from the first breach", {3min}, "BBBBB", "pppFF", "s1 f4"},
    {"a breach shorter than `for` is dropped", {3min}, "BBBHB", "ppp-p", "s1 d4 s5"},
    {"one healthy minute starts `for` anew", {2min}, "BBHBBB", "pp-ppF", "s1 d3 s4 f6"},
    {"keep_firing bridges good minutes", {0min, 3min}, "BHHBHHHH", "FFFFFFF-", "f1 r8"},
    {"keep_firing does nothing for pending", {3min, 5min}, "BBH", "pp-", "s1 d3"},
    {"lingering keeps what fires", {}, "BLLLH", "FFFF-", "f1 r5"},
    {"lingering starts nothing", {}, "LLL", "---", ""},
    {"lingering drops what is pending", {3min}, "BBLB", "pp-p", "s1 d3 s4"},
    {"keep_firing counts from the first good minute", {0min, 2min}, "BLLHHH", "FFFFF-", "f1 r6"},
    // B1: missing data resolves nothing, however long it lasts.
    {"no data holds what fires", {}, "BB....................B", "FFFFFFFFFFFFFFFFFFFFFFF", "f1"},
    {"partial and failed hold it, too", {}, "BpxpxpxB", "FFFFFFFF", "f1"},
    {"missing data starts nothing", {}, ".px.", "----", ""},
    // B3: a scrape fails now and then; the alert must still come.
    {"failures between breaches do not end pending", {5min}, "BBxBBxBB", "pppppppF", "s1 f8"},
    {"missing data alone never fires", {3min}, "BB......", "pppppppp", "s1"},
    // Too few requests: patience, then an end.
    {"too few are waited for", {0min, 0min, 3min}, "BfffB", "FFFFF", "f1"},
    {"too few for longer end what fires", {0min, 0min, 3min}, "BffffB", "FFFF-F", "f1 r5 f6"},
    {"too few for longer drop what is pending", {9min, 0min, 1min}, "BBffB", "ppp-p", "s1 d4 s5"},
    {"too few start nothing", {}, "fff", "---", ""},
    {"a judgement in between renews the patience",
     {0min, 0min, 2min},
     "BffBffBff",
     "FFFFFFFFF",
     "f1"},
    // B7: the same alert again is a new firing.
    {"fires again after resolving", {}, "BHB", "F-F", "f1 r2 f3"},
};

INSTANTIATE_TEST_SUITE_P(Lifecycle, LifecycleTable, ::testing::ValuesIn(kCases));

TEST(Lifecycle, RemembersOnsetPendingAndFiringTimesOfTheRun) {
  const Course result = run("HBBBB", {2min});
  EXPECT_EQ(result.state.onset, at_minute(1));  // Start of the first bad bucket.
  EXPECT_EQ(result.state.pending_at, at_minute(2));
  EXPECT_EQ(result.state.fired_at, at_minute(4));
  EXPECT_EQ(result.state.last_breach, at_minute(5));
  EXPECT_EQ(result.state.last_step, at_minute(5));
}

TEST(Lifecycle, TheOnsetOfALaterBreachIsNotThatOfTheEpisode) {
  AlertState state = step({}, Judgement::breached, at_minute(1), at_minute(-5), {1min}).state;
  state = step(state, Judgement::breached, at_minute(2), at_minute(1), {1min}).state;
  EXPECT_EQ(state.onset, at_minute(-5));
}

TEST(Lifecycle, SaysWhyAnAlertEnded) {
  const auto reason_of = [](std::string_view before, char last, const AlertPolicy& policy) {
    const AlertState state = run(before, policy).state;
    const auto minute = static_cast<int>(before.size()) + 1;
    const Step end = step(state, judgement_of(last), at_minute(minute), {}, policy);
    return end.transition ? end.transition->reason : "no transition";
  };
  EXPECT_EQ(reason_of("B", 'H', {}), "recovered");
  EXPECT_EQ(reason_of("B", 'H', {5min}), "recovered");
  EXPECT_EQ(reason_of("Bf", 'f', {0min, 0min, 1min}), "too few requests to judge");
}

// A1: the state is all there is; whoever loads it goes on where the other stopped.
TEST(Lifecycle, ARestartGoesOnWithoutAnyNews) {
  const AlertPolicy policy{5min};
  const Course before = run("BBBBBBB", policy);
  ASSERT_EQ(before.transitions, "s1 f6");
  const Course after = run("BBB", policy, before.state, 8);
  EXPECT_EQ(after.transitions, "");
  EXPECT_EQ(after.state.fired_at, at_minute(6));
}

TEST(Lifecycle, ARestartWhilePendingFiresAtTheOriginalTime) {
  const AlertPolicy policy{5min};
  const Course after = run("BBB", policy, run("BBB", policy).state, 4);
  EXPECT_EQ(after.transitions, "f6");
}

// A8, E6: whatever part of the past is seen again, nothing is told twice.
TEST(Lifecycle, BucketsSeenAgainChangeNothing) {
  const AlertPolicy policy{1min, 1min, 2min};
  for (const std::string_view past : {"BB", "BBB", "BBHH", "BLH", "B.B", "BBxxB"}) {
    const Course once = run(past, policy);
    const Course again = run(past, policy, once.state);
    EXPECT_EQ(again.transitions, "") << past;
    EXPECT_EQ(again.state, once.state) << past;
  }
}

TEST(Lifecycle, BucketsThatComeLateOrTwiceAreIgnored) {
  const AlertState firing = run("BB", {}).state;
  for (const int minute : {2, 1, 0, -1000}) {
    const Step late = step(firing, Judgement::healthy, at_minute(minute), {}, {});
    EXPECT_EQ(late.state, firing);
    EXPECT_FALSE(late.transition);
  }
}

TEST(Lifecycle, TheSecondEpisodeOfAnAlertHasAnIdOfItsOwn) {
  AlertState state;
  state.key = {"r", "page", {{"model", "judge"}}};
  const Course first = run("B", {}, state);
  const Course second = run("HB", {}, first.state, 2);
  EXPECT_EQ(second.state.key, state.key);
  EXPECT_NE(episode_id(state.key, first.state.fired_at),
            episode_id(state.key, second.state.fired_at));
}

// A2: only rule, severity and group make the identity.
TEST(AlertKeyTest, TheFingerprintIsTheSameForEqualKeysAndAnotherForOthers) {
  const AlertKey key{"r", "page", {{"a", "b"}, {"c", "d"}}};
  EXPECT_EQ(key.fingerprint(), (AlertKey{"r", "page", {{"c", "d"}, {"a", "b"}}}.fingerprint()));
  for (const AlertKey& other :
       {AlertKey{"q", "page", key.group}, AlertKey{"r", "ticket", key.group},
        AlertKey{"r", "page", {{"a", "b"}}}, AlertKey{"r", "page", {{"a", "b,c=d"}}},
        AlertKey{"r", "", {{"severity", "page"}, {"a", "b"}, {"c", "d"}}},
        AlertKey{"page", "r", key.group}}) {
    EXPECT_NE(key.fingerprint(), other.fingerprint());
  }
  EXPECT_EQ(episode_id(key, from_unix_ms(1'796'000'000'999)).substr(16), "-1796000000");
  EXPECT_EQ(episode_id(key, {}).size(), 18U);
}

// reliability.md P5, P7: time in which nobody looked is no evidence; the pending clock stands
// still.
TEST(Lifecycle, TimeWithoutDataDoesNotCountTowardsFor) {
  EXPECT_EQ(run("B..............B", {15min}).transitions, "s1");
}

// After a long gap in the data the first bucket with too few requests must not end the alert: it is
// too few for one minute, not for the whole gap.
TEST(Lifecycle, AGapInTheDataDoesNotUseUpThePatienceForTooFew) {
  EXPECT_EQ(run("B..............f", {0min, 0min, 10min}).transitions, "f1");
}

// Prometheus counts keep_firing_for from the first good evaluation, not from the last bad one.
TEST(Lifecycle, KeepFiringForLastsAsLongAsInPrometheus) {
  EXPECT_EQ(run("BHHHH", {0min, 3min}).transitions, "f1 r5");
}

// A6: a reload.
TEST(Adopt, AnUnchangedPolicyChangesNothing) {
  for (const std::string_view past : {"", "H", "B", "BBBBBB", "BBBBBBH", "BBBBBB..", "BBBBBBL"}) {
    const AlertPolicy policy{5min, 5min, 1h};
    const AlertState state = run(past, policy).state;
    const Step adopted = adopt(state, at_minute(20), policy);
    EXPECT_EQ(adopted.state, state) << past;
    EXPECT_FALSE(adopted.transition) << past;
  }
}

TEST(Adopt, ALongerForPutsAFiringAlertBackToPendingWithItsClockKept) {
  const AlertState firing = run("BBBBBBBB", {5min}).state;  // Active for 7 minutes at minute 8.
  const AlertPolicy longer{10min};
  const Step adopted = adopt(firing, at_minute(8), longer);
  EXPECT_EQ(adopted.state.phase, Phase::pending);
  EXPECT_EQ(adopted.state.pending_at, at_minute(1));
  ASSERT_TRUE(adopted.transition);
  EXPECT_EQ(adopted.transition->change, Change::resolved);
  EXPECT_EQ(run("BBB", longer, adopted.state, 9).transitions, "f11");
}

TEST(Adopt, AForThatIsLongerButLongPassedChangesNothing) {
  const AlertState firing = run("BBBBBBBBBBBB", {5min}).state;
  EXPECT_FALSE(adopt(firing, at_minute(12), {10min}).transition);
}

TEST(Adopt, AShorterForFiresWithTheNextBreach) {
  const AlertState pending = run("BBBB", {30min}).state;
  const Step adopted = adopt(pending, at_minute(4), {2min});
  EXPECT_FALSE(adopted.transition);
  EXPECT_EQ(run("B", {2min}, adopted.state, 5).transitions, "f5");
}

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
