#include "queries/prometheus/query_reply.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/queries/prometheus/collecting_sink.h"
#include "tests/queries/prometheus/mutations.h"

namespace outcomed {
namespace {

const std::string kTwoSeries =
    R"({"status":"success","data":{"resultType":"matrix","result":[)"
    R"({"metric":{"__name__":"x_total","job":"gw","model":"judge"},)"
    R"("values":[[1796008472.071,"8"],[1796008477.071,"20.5"],[1796008482,"NaN"]]},)"
    R"({"metric":{"__name__":"x_total","job":"gw","model":"a \"b\" \u00e9"},)"
    R"("values":[[1796008472.071,"1e+06"]]}]}})";

Result<ReplyInfo> decode(std::string body, CollectingSink& sink,
                         ReplyType expected = ReplyType::matrix) {
  return decode_query_reply(body, sink, expected);
}
Result<ReplyInfo> decode(std::string body, ReplyType expected = ReplyType::matrix) {
  CollectingSink sink;
  return decode(std::move(body), sink, expected);
}
std::string matrix_of(const std::string& values) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"x"},)"
         R"("values":)" +
         values + "}]}}";
}

TEST(QueryReply, AMatrixGivesEverySeriesItsLabelsAndSamples) {
  CollectingSink sink;
  const auto info = decode(kTwoSeries, sink);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->series, 2U);
  EXPECT_EQ(info->samples, 4U);
  EXPECT_FALSE(info->partial);
  ASSERT_EQ(sink.series.size(), 2U);
  EXPECT_EQ(sink.series[0].labels,
            (Labels{{"__name__", "x_total"}, {"job", "gw"}, {"model", "judge"}}));
  EXPECT_EQ(sink.series[1].labels.get("model"), "a \"b\" \xc3\xa9");
  EXPECT_EQ(sink.series[0].samples[0], (Sample{1796008472071, 8}));
  EXPECT_EQ(sink.series[0].samples[1], (Sample{1796008477071, 20.5}));
  EXPECT_EQ(sink.series[0].samples[2].at_ms, 1796008482000);
  EXPECT_TRUE(std::isnan(sink.series[0].samples[2].value));
  EXPECT_EQ(sink.series[1].samples[0], (Sample{1796008472071, 1e6}));
}

TEST(QueryReply, TheKeyIsTheTextOfTheLabelsAndLabelsAreReadOnce) {
  CollectingSink sink;
  ASSERT_TRUE(decode(kTwoSeries, sink));
  EXPECT_EQ(sink.series[0].key, R"({"__name__":"x_total","job":"gw","model":"judge"})");
  ASSERT_TRUE(decode(kTwoSeries, sink));
  EXPECT_EQ(sink.opened, 4);
  EXPECT_EQ(sink.asked_for_labels, 2);
}

TEST(QueryReply, BlanksBetweenTokensChangeNothing) {
  CollectingSink plain;
  CollectingSink spaced;
  ASSERT_TRUE(decode(kTwoSeries, plain));
  const auto info = decode("\n" + nlohmann::json::parse(kTwoSeries).dump(4) + "\n", spaced);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(plain.by_labels(), spaced.by_labels());
}

TEST(QueryReply, ALongSeriesComesWholeAndInOrder) {
  std::string values = "[";
  for (int i = 0; i < 1000; ++i) {
    values +=
        (i == 0 ? "[" : ",[") + std::to_string(1796008000 + i) + ",\"" + std::to_string(i) + "\"]";
  }
  CollectingSink sink;
  ASSERT_TRUE(decode(matrix_of(values + "]"), sink));
  ASSERT_EQ(sink.series[0].samples.size(), 1000U);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(sink.series[0].samples[static_cast<std::size_t>(i)],
              (Sample{(1796008000 + i) * INT64_C(1000), double(i)}));
  }
}

TEST(QueryReply, ValuesAreReadInEveryFormThatServersWrite) {
  const std::pair<const char*, double> cases[] = {
      {"0", 0},
      {"-0", -0.0},
      {"12345678901234", 12345678901234.0},
      {"1e+00", 1},
      {"1.5e-3", 0.0015},
      {"1.7976931348623157e+308", 1.7976931348623157e308},
      {"5e-324", 5e-324},
      {"-17.25", -17.25},
      {"9007199254740993", 9007199254740992.0},
      {"\\u0031", 1},
      {"+Inf", INFINITY},
      {"Inf", INFINITY},
      {"-Inf", -INFINITY},
  };
  for (const auto& [text, value] : cases) {
    CollectingSink sink;
    const auto info = decode(matrix_of("[[1,\"" + std::string(text) + "\"]]"), sink);
    ASSERT_TRUE(info) << text << ": " << info.error().message;
    EXPECT_EQ(sink.series[0].samples[0].value, value) << text;
  }
}

TEST(QueryReply, WhatIsNoNumberIsCorrupt) {
  for (const char* text : {"", " ", "1 ", " 1", "0x10", "1e400", "1,5", "nan", "NaN(1)", "inf",
                           "infinity", "--1", "+-1", "1e", "Inf ", "null", "١"}) {
    const auto info = decode(matrix_of("[[1,\"" + std::string(text) + "\"]]"));
    ASSERT_FALSE(info) << text;
    EXPECT_EQ(info.error().kind, ErrorKind::corrupt) << text;
  }
}

TEST(QueryReply, AbsurdTimesAreCorrupt) {
  for (const char* time : {"1e300", "-1e300", "99999999999999", "NaN", "null", "\"1\"", "true",
                           "{}", "[]", "-62135596801", "253402300800", "1e", "01"}) {
    const auto info = decode(matrix_of("[[" + std::string(time) + ",\"1\"]]"));
    ASSERT_FALSE(info) << time;
    EXPECT_EQ(info.error().kind, ErrorKind::corrupt) << time;
  }
}

TEST(QueryReply, WrongShapesAreCorrupt) {
  const char* const bodies[] = {
      "",
      " \n",
      "null",
      "[]",
      "true",
      "\"success\"",
      "<html><body>Log in</body></html>",
      "404 page",
      "{}",
      R"({"status":"success"})",
      R"({"status":"success","data":null})",
      R"({"status":"success","data":[]})",
      R"({"status":"success","data":nul})",
      R"({"status":"success","data":{"resultType":"matrix","result":[]},"warnings":nope})",
      R"({"status":"success","data":{}})",
      R"({"status":"success","data":{"resultType":"matrix"}})",
      R"({"status":"success","data":{"resultType":"matrix","result":null}})",
      R"({"status":"success","data":{"resultType":"matrix","result":{}}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[1]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{}]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{}}]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"values":[]}]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":[],"values":[]}]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":1},"values":[]}]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":{}},"values":[]}]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"values":[],"metric":{"a":"b"}}]}})",
      R"({"status":1,"data":{"resultType":"matrix","result":[]}})",
      R"({"status":"fine","data":{"resultType":"matrix","result":[]}})",
      R"({"data":{"resultType":"matrix","result":[]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[]},"warnings":"x"})",
      R"({"status":"success","data":{"resultType":"matrix","result":[]},"isPartial":"x"})",
      R"({"status":"success","data":{"resultType":"matrix","result":[]}} {})",
      R"({"status":"success","data":{"resultType":"matrix","result":[],"result":[]}})",
  };
  for (const char* body : bodies) {
    const auto info = decode(body);
    ASSERT_FALSE(info) << body;
    EXPECT_EQ(info.error().kind, ErrorKind::corrupt) << body << ": " << info.error().message;
    EXPECT_FALSE(info.error().message.empty());
  }
  for (const char* pair :
       {"[]", "[1]", "[1,\"1\",2]", "[1,1]", "[[1],\"1\"]", "{}", "1", "[1,null]"}) {
    const auto info = decode(matrix_of("[" + std::string(pair) + "]"));
    ASSERT_FALSE(info) << pair;
    EXPECT_EQ(info.error().kind, ErrorKind::corrupt) << pair;
  }
}

TEST(QueryReply, AWebPageIsCalledOne) {
  const auto info = decode("<!DOCTYPE html><title>Sign in</title>");
  ASSERT_FALSE(info);
  EXPECT_NE(info.error().message.find("web page"), std::string::npos);
  EXPECT_NE(info.error().message.find("url"), std::string::npos);
}

TEST(QueryReply, NoBeginningOfAReplyIsAReply) {
  for (std::size_t size = 0; size < kTwoSeries.size(); ++size) {
    const auto info = decode(kTwoSeries.substr(0, size));
    ASSERT_FALSE(info) << size;
    EXPECT_EQ(info.error().kind, ErrorKind::corrupt) << size;
  }
}

TEST(QueryReply, InvalidUtf8IsCorrupt) {
  std::string body = kTwoSeries;
  body.replace(body.find("judge"), 1, "\xff");
  const auto info = decode(body);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().kind, ErrorKind::corrupt);
}

TEST(QueryReply, AnErrorIsRejectedInTheServersWords) {
  const auto info = decode(
      R"({"status":"error","errorType":"execution","error":"found duplicate series","data":null})");
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error(), (Error{ErrorKind::rejected, "execution: found duplicate series"}));
}

TEST(QueryReply, WarningsAndIsPartialMakeAReplyPartial) {
  const std::string plain = R"({"status":"success","data":{"resultType":"matrix","result":[]})";
  struct Case {
    const char* more;
    bool partial;
    std::vector<std::string> warnings;
  };
  const Case cases[] = {
      {"", false, {}},
      {R"(,"warnings":[])", false, {}},
      {R"(,"warnings":null)", false, {}},
      {R"(,"infos":["PromQL info: metric might not be a counter"])", false, {}},
      {R"(,"warnings":["PromQL info: metric might not be a counter"])", false, {}},
      {R"(,"isPartial":false,"stats":{"seriesFetched":"3"})", false, {}},
      {R"(,"isPartial":true)", true, {}},
      {R"(,"warnings":["store 10.0.0.7 is away","b"])", true, {"store 10.0.0.7 is away", "b"}},
  };
  for (const Case& one : cases) {
    const auto info = decode(plain + one.more + "}");
    ASSERT_TRUE(info) << one.more << info.error().message;
    EXPECT_EQ(info->partial, one.partial) << one.more;
    EXPECT_EQ(info->warnings, one.warnings) << one.more;
  }
  const auto first =
      decode(R"({"isPartial":true,"status":"success","data":{"resultType":"matrix","result":[]}})");
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->partial);
}

TEST(QueryReply, AnotherResultTypeIsUnsupported) {
  const std::string vector =
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1,"2"]}]}})";
  const std::string scalar =
      R"({"status":"success","data":{"resultType":"scalar","result":[1,"2"]}})";
  const std::string text =
      R"({"status":"success","data":{"resultType":"string","result":[1,"2"]}})";
  for (const std::string& body : {vector, scalar, text}) {
    const auto info = decode(body);
    ASSERT_FALSE(info);
    EXPECT_EQ(info.error().kind, ErrorKind::unsupported) << info.error().message;
    EXPECT_NE(info.error().message.find("matrix"), std::string::npos);
  }
  CollectingSink sink;
  ASSERT_TRUE(decode(vector, sink, ReplyType::vector));
  EXPECT_EQ(sink.series[0].samples, (std::vector<Sample>{{1000, 2}}));
  CollectingSink scalars;
  ASSERT_TRUE(decode(scalar, scalars, ReplyType::scalar));
  EXPECT_EQ(scalars.series[0].samples, (std::vector<Sample>{{1000, 2}}));
  EXPECT_TRUE(scalars.series[0].labels.empty());
  for (const std::string& body : {vector, text}) EXPECT_FALSE(decode(body, ReplyType::scalar));
  for (const std::string& body : {scalar, text}) EXPECT_FALSE(decode(body, ReplyType::vector));
}

TEST(QueryReply, TheTypeMayStandBehindTheResult) {
  CollectingSink sink;
  const auto info = decode(
      R"({"data":{"result":[{"metric":{"a":"b"},"values":[[1,"2"]]}],"resultType":"matrix"},"status":"success"})",
      sink);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(sink.sample_count(), 1U);
  const auto vector = decode(R"({"data":{"result":[],"resultType":"vector"},"status":"success"})");
  ASSERT_FALSE(vector);
  EXPECT_EQ(vector.error().kind, ErrorKind::unsupported);
}

TEST(QueryReply, NativeHistogramsAreUnsupportedAndNamed) {
  const auto info = decode(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"lat_seconds"},)"
      R"("histograms":[[1,{"count":"1","sum":"2","buckets":[]}]]}]}})");
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().kind, ErrorKind::unsupported);
  EXPECT_NE(info.error().message.find("lat_seconds"), std::string::npos) << info.error().message;
}

TEST(QueryReply, OneLabelSetTwiceIsAnErrorThatNamesIt) {
  const std::string series =
      R"({"metric":{"__name__":"x_total","model":"twin"},"values":[[1,"2"]]})";
  const auto info = decode(R"({"status":"success","data":{"resultType":"matrix","result":[)" +
                           series + "," + series + "]}}");
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().kind, ErrorKind::corrupt);
  EXPECT_NE(info.error().message.find("twin"), std::string::npos) << info.error().message;
}

TEST(QueryReply, DeepNestingIsNoCrash) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(decode(deep));
  EXPECT_FALSE(decode(matrix_of(deep)));
  EXPECT_FALSE(decode(R"({"status":"success","other":)" + deep));
}

TEST(QueryReply, MessagesStayShortAndPrintable) {
  const auto info = decode(matrix_of("[[1,\"" + std::string(100'000, 'x') + "\"]]"));
  ASSERT_FALSE(info);
  EXPECT_LT(info.error().message.size(), 1000U);
  const auto junk = decode("\x01\x02\xff" + std::string(1000, '\xfe'));
  ASSERT_FALSE(junk);
  for (const char c : junk.error().message) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

TEST(LabelValues, AreAListOfTexts) {
  std::string body = R"({"status":"success","data":["gw","a \"b\""]})";
  const auto values = decode_label_values(body);
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (std::vector<std::string>{"gw", "a \"b\""}));
  std::string error = R"({"status":"error","errorType":"bad_data","error":"no"})";
  const auto rejected = decode_label_values(error);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error(), (Error{ErrorKind::rejected, "bad_data: no"}));
  for (std::string wrong : {"", "<html>", "{}", R"({"data":{}})", R"({"data":[1]})",
                            R"({"data":["a)", R"({"data":["a"})", "null", "[]"}) {
    const auto result = decode_label_values(wrong);
    ASSERT_FALSE(result) << wrong;
    EXPECT_EQ(result.error().kind, ErrorKind::corrupt);
  }
}

// Every mutation gives a result, and what is taken for a reply holds only sane samples.
TEST(QueryReply, DamagedRepliesNeverCrash) {
  const std::string bodies[] = {
      kTwoSeries,
      R"({"status":"success","isPartial":false,"data":{"result":[{"metric":{"a":"b"},"value":[1,"2"]}],)"
      R"("resultType":"vector"},"warnings":null,"infos":["PromQL info: x"],"stats":{"seriesFetched":"1"}})",
      R"({"status":"success","data":{"resultType":"scalar","result":[1796008472.071,"-1.5e-3"]},)"
      R"("warnings":["PromQL info: y","store \u0031 is away"]})",
      R"({"status":"error","errorType":"bad_data","error":"parse error","data":null})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"h"},)"
      R"("values":[],"histograms":[[1,{"count":"1","buckets":[[0,"1","2","3"]]}]]}]}})",
  };
  Mutations mutations(1);
  QueryReplyDecoder decoder;
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    for (const std::string& valid : bodies) {
      std::string body = mutations.damage(valid);
      const auto type = static_cast<ReplyType>(mutations.below(3));
      CollectingSink sink;
      const auto info = decoder.decode(body, sink, type);
      whole += info.has_value();
      (void)read_api_error(body);
      (void)decode_label_values(body);
      for (const auto& one : sink.series) {
        for (const Sample& sample : one.samples)
          ASSERT_LT(std::abs(sample.at_ms), INT64_C(1) << 48);
      }
    }
  }
  EXPECT_GT(whole, 0);  // Some damage hits only texts.
  EXPECT_LT(whole, 50'000);

  std::string body = kTwoSeries;
  CollectingSink sink;
  EXPECT_TRUE(decoder.decode(body, sink));  // The decoder survived it all.
}

}  // namespace
}  // namespace outcomed
