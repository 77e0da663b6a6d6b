#include "queries/recording/recording_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/queries/recording/recording_files.h"

namespace outcomed {
namespace {

using ::testing::HasSubstr;
using testing::write_file;

TEST(RecordingSource, TellsTheFormByThePath) {
  testing::RecordingFolder folder;
  for (const std::string name : {"a.om", "a.om.gz", "a.csv", "a.csv.gz", "a.json", "a"}) {
    write_file(folder / name, "");
  }
  EXPECT_EQ(*recording_form(folder / "a.om"), RecordingForm::openmetrics);
  EXPECT_EQ(*recording_form(folder / "a.om.gz"), RecordingForm::openmetrics);
  EXPECT_EQ(*recording_form(folder / "a.csv"), RecordingForm::buckets);
  EXPECT_EQ(*recording_form(folder / "a.csv.gz"), RecordingForm::buckets);
  EXPECT_EQ(*recording_form(folder.path()), RecordingForm::pages);
  EXPECT_EQ(*recording_form(folder.path() + "/"), RecordingForm::pages);
  for (const std::string name : {"a.json", "a"}) {
    const auto form = recording_form(folder / name);
    ASSERT_FALSE(form);
    EXPECT_THAT(form.error().message, HasSubstr("can't tell what kind of recording"));
  }
  EXPECT_THAT(recording_form(folder / "none.om").error().message, HasSubstr("no such file"));
  EXPECT_THAT(recording_form("").error().message, HasSubstr("no such file"));
}

TEST(RecordingSource, ServesEachFormThroughOneFace) {
  testing::RecordingFolder folder;
  write_file(folder / "a.om", "asks_total 1 60\nasks_total 4 120\n# EOF\n");
  write_file(folder / "a.csv", "signal,start,seconds,n,k\nasks,60,60,3,0\n");
  std::filesystem::create_directory(folder / "pages");
  write_file(folder / "pages/0-60.prom", "asks_total 1\n");
  write_file(folder / "pages/1-120.prom", "asks_total 4\n");
  for (const std::string name : {"a.om", "a.csv", "pages"}) {
    RecordingSource source({folder / name}, {testing::counter_plan()});
    const auto span = source.span();
    ASSERT_TRUE(span) << span.error().message;
    ASSERT_TRUE(*span) << name;
    EXPECT_EQ(unix_ms((*span)->begin), 60'000) << name;
    EXPECT_EQ(unix_ms((*span)->end), 120'000) << name;
    const auto fetched = source.fetch(**span);
    ASSERT_TRUE(fetched) << fetched.error().message;
    EXPECT_EQ(fetched->batches.at(0).n, std::vector<std::int64_t>{3}) << name;
    EXPECT_EQ(source.cells(0).size(), 1u) << name;
    EXPECT_FALSE(source.poll_interval()) << name;
  }
}

TEST(RecordingSource, FailsWithoutThePath) {
  RecordingSource source({"/nonexistent"}, {testing::counter_plan()});
  EXPECT_FALSE(source.span());
  EXPECT_FALSE(source.fetch({from_unix_ms(0), from_unix_ms(60'000)}));
  EXPECT_TRUE(source.cells(0).empty());
  Writer writer;
  source.save(writer);
  Reader reader(writer.bytes());
  EXPECT_FALSE(source.load(reader));
}

}  // namespace
}  // namespace outcomed
