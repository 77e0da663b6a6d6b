#include "queries/recording/csv_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "queries/recording/csv_writer.h"
#include "tests/queries/recording/csv_file.h"

namespace outcomed::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CsvRecording, ReadsRowsThatShareTheirRequests) {
  CsvFile file(
      "signal,start,seconds,n,k,model,error_class\n"
      "requests,1970-01-01T00:01:00Z,60,77,71,judge,router_refusal\n"
      "requests,1970-01-01T00:01:00Z,60,77,2,judge,provider_unavailable\n"
      "requests,60,60,900,0,gpt-4o,\n"
      "requests,120,60,80,0,judge,\n");
  const Fetch fetched = file.fetch(minutes(0, 4));
  const SignalBatch& batch = fetched.batches.at(0);
  EXPECT_EQ(batch.range, minutes(0, 4));
  EXPECT_THAT(batch.coverage, ElementsAre(kMissing, kSeen, kSeen, kMissing));
  const auto n = [&](const Labels& labels, std::size_t step) {
    return cell_value(file.recording(), batch, 0, labels, step, batch.n);
  };
  const auto k = [&](const Labels& labels, std::size_t step) {
    return cell_value(file.recording(), batch, 0, labels, step, batch.k);
  };
  EXPECT_EQ(n({{"model", "judge"}}, 1), 77);
  EXPECT_EQ(n({{"model", "gpt-4o"}}, 1), 900);
  EXPECT_EQ(n({{"model", "judge"}}, 2), 80);
  EXPECT_EQ(n({{"model", "gpt-4o"}}, 2), 0);
  EXPECT_EQ(k({{"model", "judge"}, {"error_class", "router_refusal"}}, 1), 71);
  EXPECT_EQ(k({{"model", "judge"}, {"error_class", "provider_unavailable"}}, 1), 2);
  EXPECT_EQ(total(batch.n), 77 + 900 + 80);
  EXPECT_EQ(total(batch.k), 73);
  EXPECT_THAT(fetched.problems, IsEmpty());
  EXPECT_EQ(*file.recording().span(), minutes(1, 3));
}

TEST(CsvRecording, ServesAnyPartInAnyOrderAgain) {
  CsvFile file(
      "signal,start,seconds,n,k,model\n"
      "requests,180,60,3,0,a\nrequests,60,60,1,1,a\nrequests,120,60,2,0,a\n");
  EXPECT_EQ(file.fetch(minutes(3, 4)).batches[0].n, std::vector<std::int64_t>{3});
  EXPECT_EQ(file.fetch(minutes(1, 4)).batches[0].n, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(file.fetch(minutes(1, 2)).batches[0].k, std::vector<std::int64_t>{1});
  EXPECT_THAT(file.fetch(minutes(10, 12)).batches[0].coverage, ElementsAre(kMissing, kMissing));
}

TEST(CsvRecording, AcceptsQuotesCrlfAByteOrderMarkAndColumnsInAnyOrder) {
  CsvFile file(
      "\xEF\xBB\xBFmodel,k,n,seconds,start,signal\r\n"
      "\"a,\"\"b\"\"\",1,2,60,\"1970-01-01T03:01:00+03:00\",requests\r\n");
  const SignalBatch batch = file.fetch(minutes(1, 2)).batches[0];
  EXPECT_EQ(cell_value(file.recording(), batch, 0, {{"model", "a,\"b\""}}, 0, batch.n), 2);
  EXPECT_EQ(cell_value(file.recording(), batch, 0, {{"model", "a,\"b\""}}, 0, batch.k), 1);
}

TEST(CsvRecording, KeepsSignalsApartByTheirNamesAndSteps) {
  CsvFile file(
      "signal,start,seconds,n,k,model,feed\n"
      "requests,86400,60,5,1,a,\n"
      "pass,86400,86400,100,40,,news\n"
      "pass,172800,86400,90,45,,news\n",
      {plan_named("requests"), plan_named("pass", {"feed"}, {}, 24h)});
  const Fetch fetched = file.fetch({from_unix_ms(86'400'000), from_unix_ms(3 * 86'400'000)});
  ASSERT_EQ(fetched.batches.size(), 2u);
  EXPECT_EQ(fetched.batches[0].steps(), 2u * 1440);
  EXPECT_EQ(fetched.batches[1].steps(), 2u);
  EXPECT_EQ(fetched.batches[1].k, (std::vector<std::int64_t>{40, 45}));
  EXPECT_THAT(file.recording().cells(1), ElementsAre(Labels{{"feed", "news"}}));
}

TEST(CsvRecording, RefusesRowsThatDisagreeAboutTheirRequests) {
  CsvFile file(
      "signal,start,seconds,n,k,model,error_class\n"
      "requests,60,60,77,71,judge,router_refusal\n"
      "requests,60,60,70,2,judge,rate_limited\n");
  EXPECT_EQ(file.error(), "r.csv:3:1: n is 70 here and 77 in line 2, for the same step and labels");
}

TEST(CsvRecording, NamesEveryFaultWithItsPlace) {
  CsvFile file(
      "signal,start,seconds,n,k,model,error_class\n"  // 1
      "requests,60,60,10,11,a,x\n"
      "requests,60,60,-1,0,a,\n"
      "requests,60,60,1.5,0,a,\n"
      "requests,60,60,10,,a,x\n"  // 5
      "requests,soon,60,10,1,a,x\n"
      "requests,60,300,10,1,a,x\n"
      "requests,60,60,10,1,a\n"
      "requests,120,60,10,1,a,x\n"
      "requests,120,60,10,1,a,x\n"  // 10
      "requests,60,60,99999999999999999999,1,a,x\n"
      ",60,60,1,1,a,x\n"
      "requests,180,60,10,6,b,x\n"
      "requests,180,60,10,5,b,y\n"
      "requests,60,0,10,5,b,y\n"  // 15
      "requests,-60,60,10,5,b,y\n");
  const std::string error = file.error();
  for (const std::string_view fault :
       {"r.csv:2:19: k: 11 is more than n, which is 10", "r.csv:3:16: n: \"-1\" is negative",
        "r.csv:4:16: n: \"1.5\" is not a whole number", "r.csv:5:19: k: \"\" is not a whole number",
        "r.csv:6:10: start: \"soon\" is not a time",
        "r.csv:7:13: seconds: the row covers 5m, but signal requests is read in steps of 1m; give "
        "the "
        "signal \"step: 5m\" and leave out --step",
        "r.csv:8:1: 6 fields where the header has 7",
        "r.csv:10:1: line 9 already tells this signal, step and labels",
        "r.csv:11:16: n: \"99999999999999999999\" is too large", "r.csv:12:1: signal: is empty",
        "r.csv:13:1: the k of the 2 rows of this step and labels make 11, more than n, which is 10",
        "r.csv:15:13: seconds: 0 is no length of a step",
        "r.csv:16:10: start: \"-60\" is not a time"}) {
    EXPECT_THAT(error, HasSubstr(fault));
  }
}

TEST(CsvRecording, ShowsTheFirstTwentyOfManyFaults) {
  std::string text = "signal,start,seconds,n,k\n";
  for (int i = 0; i < 100; ++i) text += "requests,60,60,x,0\n";
  const std::string error = CsvFile(text).error();
  EXPECT_EQ(std::ranges::count(error, '\n'), 20);
  EXPECT_THAT(error, HasSubstr("and 80 further faults"));
}

TEST(CsvRecording, RefusesABrokenHeader) {
  EXPECT_THAT(CsvFile("").error(), HasSubstr("r.csv:1:1: the header"));
  EXPECT_THAT(CsvFile("requests,60,60,1,1\n").error(), HasSubstr("no column signal"));
  EXPECT_THAT(CsvFile("signal,start,seconds,n\nrequests,60,60,1\n").error(),
              HasSubstr("r.csv:1:1: the header has no column k"));
  EXPECT_THAT(CsvFile("signal,start,seconds,n,k,model,model\n").error(),
              HasSubstr("r.csv:1:32: the column model stands twice"));
  EXPECT_THAT(CsvFile("signal,start,seconds,n,k,a b\n").error(), HasSubstr("r.csv:1:26: \"a b\""));
  EXPECT_THAT(CsvFile("signal,start,seconds,n,k\n").error(), HasSubstr("holds no rows"));
}

TEST(CsvRecording, LeavesOutSignalsThatNobodyDeclaredAndSaysSo) {
  CsvFile file(
      "signal,start,seconds,n,k\nrequest,60,60,1,0\nrequests,60,60,2,0\nrequest,120,60,1,0\n");
  const Fetch fetched = file.fetch(minutes(1, 3));
  EXPECT_EQ(fetched.batches[0].n, (std::vector<std::int64_t>{2, 0}));
  ASSERT_EQ(fetched.problems.size(), 1u);
  EXPECT_EQ(fetched.problems[0].what, "unknown_signal");
  EXPECT_THAT(fetched.problems[0].where, HasSubstr("r.csv:2"));
  EXPECT_THAT(fetched.problems[0].message, HasSubstr("\"request\" is declared, so 2 rows"));
  EXPECT_THAT(file.fetch(minutes(1, 3)).problems, IsEmpty()) << "told once";
}

TEST(CsvRecording, RefusesAFileOfWhichNothingIsDeclared) {
  EXPECT_THAT(
      CsvFile("signal,start,seconds,n,k\nother,60,60,1,0\n").error(),
      HasSubstr("no row belongs to a declared signal; it has other, declared are requests"));
}

TEST(CsvRecording, MovesStepsOffTheGridToTheNearest) {
  CsvFile file("signal,start,seconds,n,k\nrequests,65,60,1,0\nrequests,125,60,2,0\n");
  const Fetch fetched = file.fetch(minutes(1, 3));
  EXPECT_EQ(fetched.batches[0].n, (std::vector<std::int64_t>{1, 2}));
  ASSERT_EQ(fetched.problems.size(), 1u);
  EXPECT_EQ(fetched.problems[0].what, "steps_moved");
}

TEST(CsvRecording, ReadsDaysOfLocalTimeAcrossAClockChange) {
  // Berlin, spring 2026: 29 March has 23 hours.
  CsvFile file(
      "signal,start,seconds,n,k\n"
      "pass,2026-03-28T00:00:00+01:00,86400,10,1\n"
      "pass,2026-03-29T00:00:00+01:00,82800,20,2\n"
      "pass,2026-03-30T00:00:00+02:00,86400,30,3\n",
      {plan_named("pass", {}, {}, 24h)});
  const TimeRange days{*parse_timestamp("2026-03-28"), *parse_timestamp("2026-03-31")};
  EXPECT_EQ(file.fetch(days).batches[0].n, (std::vector<std::int64_t>{10, 20, 30}));
}

TEST(CsvRecording, RepairsLabelsThatAreNoUtf8) {
  CsvFile file("signal,start,seconds,n,k,model\nrequests,60,60,1,0,a\xFFz\n");
  file.fetch(minutes(1, 2));
  EXPECT_THAT(file.recording().cells(0), ElementsAre(Labels{{"model", "a\xEF\xBF\xBDz"}}));
}

TEST(CsvRecording, SaysWhenThereIsNoFile) {
  CsvRecording recording("/nonexistent/r.csv", {plan_named("requests")});
  const auto span = recording.span();
  ASSERT_FALSE(span);
  EXPECT_THAT(span.error().message, HasSubstr("/nonexistent/r.csv: can't open: No such file"));
}

TEST(CsvRecording, SurvivesRandomDamage) {
  const std::string good =
      "signal,start,seconds,n,k,model,error_class\r\n"
      "requests,2026-11-30T12:04:00Z,60,77,71,\"ju\"\"dge\",router_refusal\n"
      "requests,1796005700,60,9,0,a,\nother,60,60,1,1,b,x\n";
  const std::vector<SignalPlan> plans = {plan_named("requests")};
  std::mt19937 random(23);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (auto i = 1 + random() % 4; i > 0; --i) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, 1, "\",\n\r\0-9.:"[random() % 10]);
      }
    }
    refused += read_bucket_rows("r.csv", text, plans) ? 0 : 1;
  }
  EXPECT_GT(refused, 5000);
  EXPECT_LT(refused, 20'000);
}

// ---- what `signals` writes can be read back ----

struct Written {
  std::string text;
  std::size_t left_out = 0;
};

Written write(const std::vector<std::string>& labels, const SignalPlan& plan,
              const std::vector<Labels>& cells, const SignalBatch& batch) {
  std::ostringstream out;
  write_buckets_csv_header(out, labels);
  Written written;
  written.left_out = write_buckets_csv(out, labels, {&plan, &cells, &batch});
  written.text = out.str();
  return written;
}

TEST(CsvWriter, WritesTheFormOfARecording) {
  const SignalPlan plan = plan_named("requests");
  const std::vector<Labels> cells = {{{"model", "judge"}},
                                     {{"model", "judge"}, {"error_class", "router_refusal"}},
                                     {{"model", "a,b"}}};
  const SignalBatch batch{minutes(0, 3),
                          1min,
                          {kSeen, kMissing, kSeen},
                          {77, 9, 0, 0, 0, 0, 900, 9, 0},
                          {0, 0, 0, 71, 9, 0, 0, 0, 0}};
  const Written written = write({"model", "error_class"}, plan, cells, batch);
  EXPECT_EQ(written.text,
            "signal,start,seconds,n,k,model,error_class\n"
            "requests,1970-01-01T00:00:00Z,60,900,0,\"a,b\",\n"
            "requests,1970-01-01T00:00:00Z,60,77,71,judge,router_refusal\n"
            "requests,1970-01-01T00:02:00Z,60,0,0,,\n");
  EXPECT_EQ(written.left_out, 1u);
}

TEST(CsvWriter, WritesWhatReadsBackAsTheSameNumbers) {
  std::mt19937 random(17);
  const SignalPlan plan = plan_named("requests", {"model", "team"}, {"error_class"});
  const std::vector<Labels> owners = {
      {{"model", "a"}, {"team", "x"}}, {{"model", "a"}, {"team", "\"y\"\n"}}, {{"model", "b"}}};
  std::vector<Labels> cells = owners;
  for (const Labels& owner : owners) {
    for (const std::string error : {"e1", "e2"}) {
      Labels cell = owner;
      cell.set("error_class", error);
      cells.push_back(cell);
    }
  }
  for (int round = 0; round < 200; ++round) {
    constexpr std::size_t kSteps = 5;
    SignalBatch batch{minutes(100, 105), 1min, {}, {}, {}};
    batch.n.assign(cells.size() * kSteps, 0);
    batch.k.assign(cells.size() * kSteps, 0);
    for (std::size_t step = 0; step < kSteps; ++step) {
      batch.coverage.push_back(random() % 4 == 0 ? kMissing : kSeen);
      for (std::size_t owner = 0; owner < owners.size() && batch.coverage[step] == kSeen; ++owner) {
        const auto k1 = static_cast<std::int64_t>(random() % 3);
        const auto k2 = static_cast<std::int64_t>(random() % 3);
        const auto k0 = static_cast<std::int64_t>(random() % 2);
        batch.n[owner * kSteps + step] = k0 + k1 + k2 + static_cast<std::int64_t>(random() % 4);
        batch.k[owner * kSteps + step] = k0;
        batch.k[(3 + 2 * owner) * kSteps + step] = k1;
        batch.k[(4 + 2 * owner) * kSteps + step] = k2;
      }
    }
    batch.coverage[0] = kSeen;  // At least one row.
    const Written written = write({"model", "team", "error_class"}, plan, cells, batch);
    CsvFile file(written.text, {plan});
    const SignalBatch back = file.fetch(batch.range).batches[0];
    EXPECT_EQ(back.coverage, batch.coverage);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      for (std::size_t step = 0; step < kSteps; ++step) {
        const std::size_t at = cell * kSteps + step;
        ASSERT_EQ(cell_value(file.recording(), back, 0, cells[cell], step, back.n), batch.n[at])
            << written.text;
        ASSERT_EQ(cell_value(file.recording(), back, 0, cells[cell], step, back.k), batch.k[at])
            << written.text;
      }
    }
  }
}

TEST(CsvWriter, AddsUpTheLabelsLeftOut) {
  const SignalPlan plan = plan_named("requests");
  const std::vector<Labels> cells = {{{"model", "a"}},
                                     {{"model", "a"}, {"error_class", "x"}},
                                     {{"model", "b"}},
                                     {{"model", "b"}, {"error_class", "x"}}};
  const SignalBatch batch{minutes(0, 1), 1min, {kSeen}, {10, 0, 20, 0}, {0, 1, 0, 2}};
  EXPECT_THAT(write({}, plan, cells, batch).text, HasSubstr(",60,30,3\n"));
  EXPECT_THAT(write({"error_class"}, plan, cells, batch).text, HasSubstr(",60,30,3,x\n"));
}

}  // namespace
}  // namespace outcomed::testing
