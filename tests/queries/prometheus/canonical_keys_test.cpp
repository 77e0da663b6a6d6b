// Whatever form and order an answer has, one label set is one series.
#include "queries/prometheus/canonical_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/queries/prometheus/collecting_sink.h"

namespace outcomed {
namespace {

Labels labels_of(int number) {
  return {{"__name__", "failed_total"}, {"model", std::to_string(number)}};
}

class Answers {
 public:
  SeriesId open(int number, const std::string& form) {
    return keys_.open(form + std::to_string(number), [&] {
      ++parsed;
      return labels_of(number);
    });
  }
  void end() { keys_.tidy(); }
  CollectingSink inner;
  int parsed = 0;

 private:
  CanonicalKeys keys_{inner};
};

TEST(CanonicalKeys, ASeriesKeepsItsIdInEveryOrderAndForm) {
  Answers answers;
  std::mt19937 random(3);
  std::vector<int> order(50);
  for (int i = 0; i < 50; ++i) order[static_cast<std::size_t>(i)] = i;
  std::map<int, SeriesId> ids;
  for (int round = 0; round < 200; ++round) {
    if (round % 3 == 0) std::ranges::shuffle(order, random);
    const auto size = static_cast<std::ptrdiff_t>(1 + random() % 50);  // Some are missing.
    const std::string form = round % 2 == 0 ? "json " : "proto ";
    for (auto number = order.begin(); number != order.begin() + size; ++number) {
      const SeriesId id = answers.open(*number, form);
      const auto [known, fresh] = ids.emplace(*number, id);
      ASSERT_EQ(known->second, id) << "round " << round;
      ASSERT_EQ(answers.inner.series.at(id).labels, labels_of(*number));
    }
    answers.end();
  }
  EXPECT_EQ(answers.inner.series.size(), ids.size());
  EXPECT_LE(answers.parsed, 100) << "once for each series and form";
}

TEST(CanonicalKeys, TheSameSeriesTwiceInOneAnswerIsOne) {
  Answers answers;
  for (int round = 0; round < 3; ++round) {
    const SeriesId id = answers.open(1, "a");
    EXPECT_EQ(answers.open(1, "a"), id);
    EXPECT_EQ(answers.open(1, "b"), id);
  }
}

TEST(CanonicalKeys, FormsNoLongerMetAreForgotten) {
  Answers answers;
  for (int i = 0; i < 20'000; ++i) answers.open(i, "proto ");
  answers.end();
  for (int i = 0; i < 20'000; ++i) answers.open(i, "json ");
  answers.end();  // 40,000 keys, half of them met: all are forgotten.
  EXPECT_EQ(answers.parsed, 40'000);
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(answers.open(i, "json "), static_cast<SeriesId>(i));
  answers.end();
  for (int i = 0; i < 20'000; ++i) answers.open(i, "json ");
  EXPECT_EQ(answers.parsed, 60'000) << "once more, then they are known again";
}

TEST(CanonicalKeys, LabelsThatCannotBeParsedAreAskedForAgain) {
  CollectingSink inner;
  CanonicalKeys keys(inner);
  int asked = 0;
  for (int i = 0; i < 3; ++i) {
    keys.open("broken", [&] {
      ++asked;
      return Labels();
    });
  }
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace outcomed
