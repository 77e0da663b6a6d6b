#include "queries/prometheus/vm_export.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/queries/prometheus/collecting_sink.h"
#include "tests/queries/prometheus/mutations.h"

namespace outcomed {
namespace {

constexpr SampleSpan kAlways{INT64_MIN, INT64_MAX};

const std::string kBody =
    R"({"metric":{"__name__":"x_total","job":"gw","model":"judge"},"values":[8,20.5,null,1e+06],)"
    R"("timestamps":[1796008472071,1796008477071,1796008482000,1796008487000]})"
    "\n"
    R"({"metric":{"__name__":"y","model":"a \"b\" }{ \u00e9"},"values":["Infinity","-Infinity"],)"
    R"("timestamps":[1,2]})"
    "\n";

Status decode(const std::string& body, CollectingSink& sink, SampleSpan span = kAlways,
              std::size_t piece = 0) {
  VmExportDecoder decoder(sink, span);
  if (piece == 0) piece = std::max<std::size_t>(body.size(), 1);
  for (std::size_t at = 0; at < body.size(); at += piece) {
    if (Status fed = decoder.feed(std::string_view(body).substr(at, piece)); !fed) return fed;
  }
  return decoder.finish();
}

std::string line(const std::string& values, const std::string& times) {
  return R"({"metric":{"__name__":"x"},"values":)" + values + R"(,"timestamps":)" + times + "}\n";
}

TEST(VmExport, LinesGiveSeriesAndSamplesWhateverThePieces) {
  for (const std::size_t piece : {0, 1, 2, 5, 100}) {
    CollectingSink sink;
    const Status status = decode(kBody, sink, kAlways, piece);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_EQ(sink.series.size(), 2U);
    EXPECT_EQ(sink.series[0].key, R"({"__name__":"x_total","job":"gw","model":"judge"})");
    EXPECT_EQ(sink.series[0].labels,
              (Labels{{"__name__", "x_total"}, {"job", "gw"}, {"model", "judge"}}));
    EXPECT_EQ(sink.series[1].labels.get("model"), "a \"b\" }{ \xc3\xa9");
    EXPECT_EQ(sink.by_labels().at(sink.series[0].labels.to_string()),
              (std::vector<std::string>{"1796008472071=8.000000", "1796008477071=20.500000",
                                        "1796008482000=stale", "1796008487000=1000000.000000"}));
    EXPECT_EQ(sink.series[1].samples, (std::vector<Sample>{{1, INFINITY}, {2, -INFINITY}}));
  }
}

TEST(VmExport, OnlySamplesInsideTheSpanArePassedOn) {
  CollectingSink sink;
  ASSERT_TRUE(decode(kBody, sink, {1796008472072, 1796008487000}));
  EXPECT_EQ(sink.series[0].samples.size(), 3U);
  EXPECT_TRUE(sink.series[1].samples.empty());
}

TEST(VmExport, NumbersOfEveryLengthAreReadExactly) {
  std::mt19937_64 random(3);
  std::vector<Sample> expected;
  std::string values;
  std::string times;
  std::int64_t at = -62'000'000'000'000;
  for (int i = 0; i < 20'000; ++i) {
    at += static_cast<std::int64_t>(1 +
                                    random() % (at < -1'000'000 ? 9'000'000'000 : 20'000'000'000));
    if (i % 100 == 99 && at < -1'000'000) at /= 10;  // Shorter and shorter, then longer.
    const auto value = random() % (UINT64_C(1) << (random() % 64));
    expected.push_back({at, double(value)});
    values += (i == 0 ? "" : ",") + std::to_string(value);
    times += (i == 0 ? "" : ",") + std::to_string(at);
  }
  CollectingSink sink;
  const Status status = decode(line("[" + values + "]", "[" + times + "]"), sink);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(sink.series[0].samples, expected);
}

TEST(VmExport, OfSeveralSamplesOfOneInstantTheLastCounts) {
  CollectingSink sink;
  ASSERT_TRUE(decode(line("[1,2,3]", "[5,5,6]"), sink));
  EXPECT_EQ(sink.series[0].samples, (std::vector<Sample>{{5, 2}, {6, 3}}));
}

TEST(VmExport, ASeriesMayComeInSeveralLines) {
  CollectingSink sink;
  ASSERT_TRUE(decode(line("[1]", "[5]") + line("[2]", "[6]"), sink));
  EXPECT_EQ(sink.series[0].samples, (std::vector<Sample>{{5, 1}, {6, 2}}));
  EXPECT_EQ(sink.asked_for_labels, 1);
}

TEST(VmExport, EmptyBodiesListsAndLinesAreNoFault) {
  CollectingSink sink;
  EXPECT_TRUE(decode("", sink));
  EXPECT_TRUE(decode("\n\n", sink));
  EXPECT_TRUE(decode(line("[]", "[]"), sink));
  EXPECT_EQ(sink.sample_count(), 0U);
}

TEST(VmExport, BlanksAndCarriageReturnsChangeNothing) {
  CollectingSink sink;
  const std::string body =
      "{ \"metric\" : { \"__name__\" : \"x\" } , \"values\" : [ 1 , null ] , \"timestamps\" : [ 5 "
      ", 6 ] }\r\n";
  const Status status = decode(body, sink);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(sink.series[0].samples.size(), 2U);
}

TEST(VmExport, WhatIsNoExportIsCorrupt) {
  const std::string bodies[] = {
      "<html></html>\n",
      "unsupported path\n",
      "[]\n",
      "{}\n",
      "null\n",
      "{\"metric\":{}\n",
      R"({"metric":{"a":1},"values":[1],"timestamps":[1]})"
      "\n",
      R"({"metric":{"a":{"b":"c"}},"values":[1],"timestamps":[1]})"
      "\n",
      R"({"metric":"x","values":[1],"timestamps":[1]})"
      "\n",
      R"({"metric":{},"metric":{},"values":[1],"timestamps":[1]})"
      "\n",
      R"({"values":[1],"timestamps":[1]})"
      "\n",
      R"({"metric":{"a":"b"},"values":[1]})"
      "\n",
      R"({"metric":{"a":"b"},"values":[1],"timestamps":[1]}x)"
      "\n",
      R"({"metric":{"a":"b"},"values":[1],"timestamps":[1],"more":[]})"
      "\n",
      line("[1,2]", "[1]"),
      line("[1]", "[1,2]"),
      line("[1,]", "[1,2]"),
      line("[,1]", "[1]"),
      line("[1 2]", "[1]"),
      line("[x]", "[1]"),
      line("[1e400]", "[1]"),
      line("[\"x\"]", "[1]"),
      line("[nul]", "[1]"),
      line("[1]", "[1.5]"),
      line("[1]", "[\"1\"]"),
      line("[1]", "[null]"),
      line("[1]", "[99999999999999999999]"),
      line("[1]", "[253402300800000]"),
      line("[1]", "[-]"),
      line("[1,2]", "[2,1]"),
      line("1", "1"),
      line("[1", "[1]"),
      line("[[1]]", "[1]"),
  };
  for (const std::string& body : bodies) {
    CollectingSink sink;
    const Status status = decode(body, sink);
    ASSERT_FALSE(status) << body;
    EXPECT_EQ(status.error().kind, ErrorKind::corrupt) << body;
    EXPECT_LT(status.error().message.size(), 500U);
  }
}

TEST(VmExport, ACutOffBodyIsCorrupt) {
  const std::size_t first = kBody.find('\n') + 1;
  for (std::size_t size = 1; size < kBody.size(); ++size) {
    if (size == first) continue;  // A whole line.
    CollectingSink sink;
    ASSERT_FALSE(decode(kBody.substr(0, size), sink)) << size;
  }
}

TEST(VmExport, DamagedBodiesNeverCrash) {
  Mutations mutations(9);
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    CollectingSink sink;
    whole += decode(mutations.damage(kBody), sink, kAlways, 1 + mutations.below(200)).has_value();
    for (const auto& one : sink.series) {
      for (const Sample& sample : one.samples) ASSERT_LT(std::abs(sample.at_ms), INT64_C(1) << 48);
    }
  }
  EXPECT_GT(whole, 0);
}

}  // namespace
}  // namespace outcomed
