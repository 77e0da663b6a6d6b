// Rules that judge days, on real answers and real judges.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "detectors/baseline/day_rule.h"
#include "detectors/scores/scores.h"
#include "parts.h"
#include "random.h"
#include "rows.h"
#include "surge_watch.h"

namespace outcomed::bench {
namespace {

using std::chrono::hours;

SignalWords items() { return {.unit = "items", .outcome = "passed", .step = hours(24)}; }

// The scores of one translation by the old and the new judge, and how often they occur.
struct ScoreCell {
  std::size_t before = 0;  // Index of the score.
  std::size_t after = 0;
  double until = 0;  // Running sum of counts.
};

struct Judges {
  std::vector<std::string> scores;
  std::vector<ScoreCell> cells;

  explicit Judges(const std::string& data) {
    const auto place = [&](const std::string& score) {
      const auto at = std::ranges::find(scores, score);
      if (at == scores.end()) scores.push_back(score);
      return static_cast<std::size_t>(std::ranges::find(scores, score) - scores.begin());
    };
    double sum = 0;
    for (const auto& row : read_csv(data + "/gemba_contingency.csv")) {
      if (row.size() != 5 || row[0] != "turbo>gpt4" || row[1] != "en-de") continue;
      const std::size_t before = place(row[2]);
      cells.push_back({before, place(row[3]), sum += std::stod(row[4])});
    }
  }
  [[nodiscard]] std::vector<std::int64_t> day(Random& random, int n, double mix) const {
    std::vector<std::int64_t> counts(scores.size());
    for (int i = 0; i < n; ++i) {
      const double at = random.even() * cells.back().until;
      const auto cell = std::ranges::upper_bound(cells, at, {}, &ScoreCell::until);
      ++counts[random.even() < mix ? cell->after : cell->before];
    }
    return counts;
  }
};

class ScoreFeed {
 public:
  explicit ScoreFeed(const Judges& judges) : fold_(detector_.start({{"feed", "de"}})) {
    for (const std::string& score : judges.scores) fold_->add_member({{"score", score}});
  }
  // Whether an alert began.
  bool day(const std::vector<std::int64_t>& counts) {
    std::int64_t n = 0;
    std::vector<MemberRun> members;
    for (const std::int64_t& count : counts) {
      n += count;
      members.push_back({{&count, 1}, {&count, 1}});
    }
    const Coverage coverage = Coverage::complete;
    fold_->advance({at_, hours(24), {&n, 1}, {&n, 1}, {&coverage, 1}, members}, 0);
    at_ += hours(24);
    const Judgement judgement = fold_->judgement(0);
    const bool before = std::exchange(
        alert_, judgement == Judgement::breached || (alert_ && judgement == Judgement::lingering));
    return alert_ && !before;
  }

 private:
  ScoresDetector detector_{{}, items()};
  std::unique_ptr<Fold> fold_;
  Timestamp at_ = kStart;
  bool alert_ = false;
};

}  // namespace

Problems real_answers(const std::string& data) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<DayCount>> feeds;
  for (const auto& row : read_csv(data + "/llmdrift_daily_replay.csv")) {
    if (row.size() != 5) continue;
    if (!feeds.contains(row[0])) order.push_back(row[0]);
    feeds[row[0]].push_back({std::stoll(row[1]), std::stoll(row[4]), std::stoll(row[3])});
  }
  const BaselineDetector detector({}, items());
  Problems problems;
  for (const std::string& feed : order) {
    DayRule rule(detector);
    std::vector<double> halving;
    int halved = 0;
    int evident = 0;
    const char* direction = "";
    for (const DayCount& day : feeds[feed]) {
      const DayFinding finding = rule.judge(day, 0);
      if (day.day < 15) continue;
      if (finding.beyond[0]) halving.push_back(double(day.day));
      if (finding.halved && halved == 0) halved = static_cast<int>(day.day);
      if (!finding.evident || evident != 0) continue;
      evident = static_cast<int>(day.day);
      direction = finding.direction == Direction::rises ? "rise" : "fall";
    }
    Row("real_answers")
        .add("feed", feed)
        .add("items", int(feeds[feed][0].n))
        .add("halving_days", halving)
        .add("halved", halved)
        .add("evidence", evident)
        .add("direction", direction);
    if ((halved > 0 && halved < 21) || (evident > 0 && evident < 21)) {
      problems.push_back(fmt::format("S9: {} alarmed before the change of day 21", feed));
    }
    if (feed == "prime_acc_gpt4" && evident != 22) {
      problems.push_back("S9: the fall of prime accuracy was not found on day 22");
    }
  }
  return problems;
}

Problems judge_swap(const std::string& data, int years, const std::string& dump) {
  const Judges judges(data);
  if (judges.cells.empty()) return {};
  Problems problems;
  for (const int n : {30, 50, 100, 200, 668}) {
    int alarms = 0;
    std::ofstream file;
    if (!dump.empty()) file.open(fmt::format("{}/scores.{}.csv", dump, n));
    if (file.is_open()) file << fmt::format("{}\n", fmt::join(judges.scores, ","));
    for (int year = 0; year < years; ++year) {
      Random random(static_cast<std::uint64_t>(100 + year));
      ScoreFeed feed(judges);
      for (int day = 0; day < 28 + 365; ++day) {
        const std::vector<std::int64_t> counts = judges.day(random, n, 0);
        if (year == 0 && file.is_open()) file << fmt::format("{}\n", fmt::join(counts, ","));
        alarms += feed.day(counts) ? 1 : 0;
      }
    }
    Row("judge_swap").add("items", n).add("mix", 0.0).add("years", years).add("alarms", alarms);
    if (alarms > 0) {
      problems.push_back(
          fmt::format("S10: {} alarms in {} feed-years without a change at {} items "
                      "a day",
                      alarms, years, n));
    }
    for (const double mix : {0.1, 0.3, 0.5, 1.0}) {
      std::vector<double> days;
      for (int run = 0; run < (mix == 1.0 ? 10 : 2) * years; ++run) {
        Random random(static_cast<std::uint64_t>(9000 + run));
        ScoreFeed feed(judges);
        for (int day = 0; day < 28; ++day) feed.day(judges.day(random, n, 0));
        int day = 1;
        while (!feed.day(judges.day(random, n, mix)) && day <= 60) ++day;
        days.push_back(day <= 60 ? double(day) : INFINITY);
      }
      Row("judge_swap").add("items", n).add("mix", mix).add("delays", days);
      // At 30 items a day one day of chance hides one swap in twenty.
      if (mix == 1.0 && n >= 50 && *std::ranges::max_element(days) > 1) {
        problems.push_back(
            fmt::format("S10: a whole swap was not found on day 1 at {} items a day", n));
      }
    }
  }
  return problems;
}

}  // namespace outcomed::bench
