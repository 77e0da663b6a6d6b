#include "alerts/lifecycle.h"

#include <gtest/gtest.h>

#include <ostream>
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

}  // namespace
}  // namespace outcomed
