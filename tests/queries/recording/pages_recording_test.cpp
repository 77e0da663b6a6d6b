#include "queries/recording/pages_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/recording/recording_files.h"

namespace outcomed {
namespace {

using testing::cell_value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::total;
using testing::write_file;

TimeRange minutes(std::int64_t from, std::int64_t to) {
  return {from_unix_ms(from * 60'000), from_unix_ms(to * 60'000)};
}

std::string page(int asks, int fails, int started = 1) {
  return "process_start_time_seconds " + std::to_string(started) + "\nasks_total{model=\"a\"} " +
         std::to_string(asks) + ".0\nfails_total{model=\"a\",why=\"x\"} " + std::to_string(fails) +
         ".0\nother{a=\"broken\n";
}

class PagesFolder {
 public:
  void add(const std::string& name, std::string_view text) { write_file(folder_ / name, text); }
  void add_gzip(const std::string& name, std::string_view text) {
    testing::write_gzip(folder_ / name, text);
  }
  PagesRecording open() const { return {folder_.path(), {testing::counter_plan()}}; }
  std::string error() const {
    PagesRecording recording = open();
    const auto span = recording.span();
    return span ? "no error" : span.error().message;
  }
  const testing::RecordingFolder& folder() const { return folder_; }

 private:
  testing::RecordingFolder folder_;
};

SignalBatch batch_of(PagesRecording& recording, TimeRange range) {
  auto fetched = recording.fetch(range);
  EXPECT_TRUE(fetched) << fetched.error().message;
  return fetched ? fetched->batches.at(0) : SignalBatch{};
}

TEST(PagesRecording, CountsFromPageToPage) {
  PagesFolder pages;
  pages.add("000-60.5.prom", page(100, 10));
  pages.add_gzip("001-90.prom.gz", page(130, 12));
  pages.add("002-120.prom", page(140, 12));
  pages.add("003-150.25.prom", page(141, 13));
  PagesRecording recording = pages.open();
  EXPECT_EQ(*recording.span(), minutes(1, 3));
  const SignalBatch batch = batch_of(recording, minutes(1, 3));
  EXPECT_THAT(batch.coverage, ElementsAre(Coverage::complete, Coverage::complete));
  // The first page tells where the counters stood; the one at 120 s tells what was before.
  EXPECT_EQ(cell_value(recording, batch, 0, {{"model", "a"}}, 0, batch.n), 40);
  EXPECT_EQ(cell_value(recording, batch, 0, {{"model", "a"}}, 1, batch.n), 1);
  EXPECT_EQ(cell_value(recording, batch, 0, {{"model", "a"}, {"why", "x"}}, 0, batch.k), 2);
  EXPECT_EQ(cell_value(recording, batch, 0, {{"model", "a"}, {"why", "x"}}, 1, batch.k), 1);
}

TEST(PagesRecording, CountsTheSameStepByStep) {
  PagesFolder pages;
  for (int i = 0; i < 40; ++i) {
    const int asks = i < 25 ? 100 + 7 * i : 3 * (i - 25);
    pages.add(std::to_string(i) + "-" + std::to_string(60 + 15 * i) + ".prom",
              page(asks, i < 25 ? i : i - 25, i < 25 ? 1 : 430));
  }
  PagesRecording whole = pages.open();
  const SignalBatch all = batch_of(whole, minutes(1, 12));
  PagesRecording steps = pages.open();
  std::int64_t n = 0;
  std::int64_t k = 0;
  for (int minute = 1; minute < 12; ++minute) {
    const SignalBatch batch = batch_of(steps, minutes(minute, minute + 1));
    n += total(batch.n);
    k += total(batch.k);
  }
  EXPECT_EQ(n, total(all.n));
  EXPECT_EQ(k, total(all.k));
  EXPECT_EQ(n, 7 * 24 + 3 * 14);
}

TEST(PagesRecording, TakesAMissingPageForAGapAndLosesNothing) {
  PagesFolder pages;
  pages.add("0-60.prom", page(100, 0));
  pages.add("1-120.prom", page(110, 0));
  pages.add("4-300.prom", page(150, 0));
  PagesRecording recording = pages.open();
  const SignalBatch batch = batch_of(recording, minutes(1, 5));
  EXPECT_THAT(batch.coverage, ElementsAre(Coverage::complete, Coverage::missing, Coverage::missing,
                                          Coverage::complete));
  EXPECT_EQ(total(batch.n), 50);
}

TEST(PagesRecording, LeavesOutAPageThatCannotBeReadAndSaysSo) {
  PagesFolder pages;
  pages.add("0-60.prom", page(100, 0));
  pages.add("1-75.prom", "asks_total{model=\"a\"} 5\nasks_total{model=\"a\" 1\n");
  pages.add("2-90.prom", "");
  pages.add("3-100.prom", "asks_total{model=\"a\"} 10");
  pages.add("5-120.prom", page(110, 0));
  pages.add_gzip("4-110.prom.gz", page(107, 0));
  {  // Cut off in the middle of the gzip stream.
    std::string packed;
    std::ifstream(pages.folder() / "4-110.prom.gz") >> std::noskipws >> packed;
    std::filesystem::resize_file(pages.folder() / "4-110.prom.gz", 40);
  }
  PagesRecording recording = pages.open();
  auto fetched = recording.fetch(minutes(1, 2));
  ASSERT_TRUE(fetched);
  EXPECT_EQ(total(fetched->batches[0].n), 10);
  ASSERT_EQ(fetched->problems.size(), 4u);
  for (const Problem& problem : fetched->problems) EXPECT_EQ(problem.what, "unreadable_page");
  EXPECT_EQ(fetched->problems[0].where, "1-75.prom");
  EXPECT_THAT(fetched->problems[0].message, HasSubstr("line 2: expected , or }"));
  EXPECT_THAT(fetched->problems[1].message, HasSubstr("empty"));
  EXPECT_THAT(fetched->problems[2].message, HasSubstr("cut off"));
  EXPECT_THAT(fetched->problems[3].message, HasSubstr("gzip"));
}

TEST(PagesRecording, AFolderInWhichNoPageCanBeReadIsAnErrorAndNoQuietHour) {
  PagesFolder pages;
  pages.add("0-60.prom", "<html>");
  pages.add("1-120.prom", "");
  PagesRecording recording = pages.open();
  const auto first = recording.fetch(minutes(1, 2));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(first.error().message, HasSubstr("none of its 2 pages can be read; 1-120.prom: "));
}

TEST(PagesRecording, PagesWithoutAnyCounterOfTheSignalsAreAnErrorAndNoQuietHour) {
  PagesFolder pages;
  pages.add("0-60.prom", "asked_total{model=\"a\"} 5\n");
  pages.add("1-120.prom", "asked_total{model=\"a\"} 7\n");
  PagesRecording recording = pages.open();
  const auto fetched = recording.fetch(minutes(1, 2));
  ASSERT_FALSE(fetched);
  EXPECT_THAT(fetched.error().message,
              HasSubstr("none of its 2 pages holds a counter that the signals read"));
}

TEST(PagesRecording, IgnoresOtherFilesAndRefusesMisnamedPages) {
  PagesFolder pages;
  pages.add("0-60.prom", page(1, 0));
  pages.add("README.md", "x");
  EXPECT_EQ(pages.error(), "no error");
  for (const std::string name : {"60.prom", "a-60.prom", "1-.prom", "1-x.prom.gz", "1--5.prom",
                                 "1-1e99.prom", "-5.prom", ".prom", "1-inf.prom"}) {
    PagesFolder bad;
    bad.add("0-60.prom", page(1, 0));
    bad.add(name, page(1, 0));
    EXPECT_THAT(bad.error(), HasSubstr(name + ": a page is named SEQ-UNIXSECONDS.prom")) << name;
  }
}

TEST(PagesRecording, SaysWhenTheFolderHoldsNoPagesOrHoldsThemBelow) {
  PagesFolder empty;
  EXPECT_THAT(empty.error(), HasSubstr("holds no page"));
  std::filesystem::create_directory(empty.folder() / "pages");
  EXPECT_THAT(empty.error(), HasSubstr("did you mean " + (empty.folder() / "pages") + "?"));
}

TEST(PagesRecording, BelievesTheTimeOfPagesOverTheirNumbers) {
  PagesFolder pages;
  pages.add("0-60.prom", page(100, 0));
  pages.add("2-75.prom", page(105, 0));
  pages.add("1-90.prom", page(109, 0));
  pages.add("3-90.prom", page(999, 0));
  PagesRecording recording = pages.open();
  auto fetched = recording.fetch(minutes(1, 2));
  ASSERT_TRUE(fetched);
  EXPECT_EQ(total(fetched->batches[0].n), 9);
  std::vector<std::string> problems;
  for (const Problem& problem : fetched->problems) problems.push_back(problem.what);
  EXPECT_THAT(problems, ElementsAre("page_order", "same_time"));
}

TEST(PagesRecording, GoesOnAfterARestartOfTheProgram) {
  PagesFolder pages;
  for (int i = 0; i < 12; ++i) {
    pages.add(std::to_string(i) + "-" + std::to_string(60 + 30 * i) + ".prom", page(100 + i, i));
  }
  PagesRecording before = pages.open();
  std::int64_t n = total(batch_of(before, minutes(1, 3)).n);
  Writer writer;
  before.save(writer);
  PagesRecording after = pages.open();
  Reader reader(writer.bytes());
  ASSERT_TRUE(after.load(reader));
  n += total(batch_of(after, minutes(3, 7)).n);
  EXPECT_EQ(n, 11);
}

}  // namespace
}  // namespace outcomed
