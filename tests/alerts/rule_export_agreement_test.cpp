#include <random>

#include "alerts/lifecycle.h"
#include "detectors/share/share.h"
#include "tests/alerts/promtool_test.h"

namespace outcomed {
namespace {

using testing::checkout_rule;
using testing::counter;
using testing::promtool_verdict;
using testing::PromtoolTest;

// The same series through our detector and life cycle, and through Prometheus. Samples lie on the
// edges of the windows and traffic never ends: there both must say the same at every minute.
class RandomTraffic {
 public:
  explicit RandomTraffic(unsigned seed) : random_(seed) {}

  // Requests and failures of each minute; the first ten are empty, so every window is whole.
  void run(int minutes) {
    double share = 0.05;
    for (int minute = 1; minute <= minutes; ++minute) {
      if (minute > 10 && random_() % 12 == 0) share = double(random_() % 40) / 100;
      const int n = minute <= 10 ? 0 : 1 + int(random_() % 30);
      requests.push_back(n);
      failures.push_back(std::binomial_distribution<int>(n, share)(random_));
    }
  }
  std::string total(const std::vector<int>& counts) {
    std::string text = "0";
    long sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      // The gateway was started anew; Prometheus can tell only where the value falls.
      if (i > 10 && random_() % 50 == 0 && counts[i] < sum) sum = 0;
      sum += counts[i];
      text += fmt::format(" {}", sum);
    }
    return text;
  }

  std::vector<int> requests;
  std::vector<int> failures;

 private:
  std::mt19937 random_;
};

std::vector<bool> minutes_we_fire(const ExportRule& rule, const RandomTraffic& traffic) {
  ShareParams params;
  params.above = rule.tiers[0].threshold;
  params.window = rule.window;
  params.min_requests = rule.min_requests;
  params.min_failures = rule.min_failures;
  SignalWords words;
  words.step = 1min;
  const ShareDetector detector(params, words);
  const auto fold = detector.start({});
  const AlertPolicy policy{rule.tiers[0].hold, rule.keep_firing, 1h};
  AlertState state;
  std::vector<bool> fires = {false};
  for (std::size_t i = 0; i < traffic.requests.size(); ++i) {
    Bucket bucket;
    bucket.start = from_unix_ms(60'000 * std::int64_t(i));
    bucket.length = 1min;
    bucket.n = traffic.requests[i];
    bucket.k = traffic.failures[i];
    advance(*fold, bucket);
    state = step(state, fold->judgement(0), bucket.end(), bucket.start, policy).state;
    fires.push_back(state.phase == Phase::firing);
  }
  return fires;
}

TEST(RuleExport, PrometheusFiresInTheSameMinutesAsWe) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  constexpr int kMinutes = 150;
  int firing = 0;
  int healthy = 0;
  struct Case {
    Duration hold, keep_firing;
  };
  for (const auto& [hold, keep_firing] : {Case{0min, 0min}, {3min, 0min}, {2min, 5min}}) {
    ExportRule rule = checkout_rule();
    rule.tiers[0].hold = hold;
    rule.keep_firing = keep_firing;
    rule.tiers[0].threshold = 0.15;
    rule.failures = {counter("failed_total")};
    rule.requests = {counter("asked_total")};
    std::vector<PromtoolTest> tests;
    for (unsigned seed = 1; seed <= 12; ++seed) {
      RandomTraffic traffic(seed);
      traffic.run(kMinutes);
      PromtoolTest test;
      test.series("asked_total", traffic.total(traffic.requests));
      test.series("failed_total", traffic.total(traffic.failures));
      const std::vector<bool> ours = minutes_we_fire(rule, traffic);
      for (int minute = 0; minute <= kMinutes; ++minute) {
        if (ours[std::size_t(minute)]) {
          ++firing;
          test.fires(minute, rule.name, {{{"severity", "page"}}});
        } else {
          ++healthy;
          test.quiet(minute, rule.name);
        }
      }
      tests.push_back(std::move(test));
    }
    EXPECT_EQ(promtool_verdict(*promtool, {rule}, tests), "");
  }
  EXPECT_GT(firing, 300);  // The comparison is about something.
  EXPECT_GT(healthy, 300);
}

}  // namespace
}  // namespace outcomed
