#include "queries/exposition/text_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "queries/exposition/label_text.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Read {
  std::string name;
  std::string key;
  Labels labels;
  double value = 0;
  std::optional<std::int64_t> at_ms;
};

struct Page {
  std::vector<Read> samples;
  std::optional<Error> error;
};

Page read_page(std::string_view text, TextFormat format = TextFormat::prometheus,
               std::size_t piece = std::string_view::npos) {
  Page page;
  std::string scratch;
  TextParser parser(
      format, [](std::string_view) { return true; },
      [&](const TextSample& sample) {
        page.samples.push_back({std::string(sample.name), std::string(sample.key(scratch)),
                                sample.labels(), sample.value, sample.at_ms});
        return ok();
      });
  Status status = ok();
  while (status && !text.empty()) {
    status = parser.feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  if (status) status = parser.finish();
  if (!status) page.error = status.error();
  return page;
}

double value_of(std::string_view text) {
  const Page page = read_page("x " + std::string(text) + "\n");
  EXPECT_FALSE(page.error) << text << ": " << (page.error ? page.error->message : "");
  return page.samples.empty() ? -12345 : page.samples[0].value;
}

std::string message_of(const Page& page) { return page.error ? page.error->message : "no error"; }

TEST(TextFormat, ReadsAPageAsThePythonClientWritesIt) {
  const Page page = read_page(
      "# HELP x_total Requests \\\\ and \"more\"\n"
      "# TYPE x_total counter\n"
      "x_total{exception_class=\"Openai.Timeout\",model=\"gpt-4o\",team=\"None\"} 41.0\n"
      "# TYPE x_created gauge\n"
      "x_created{exception_class=\"Openai.Timeout\",model=\"gpt-4o\",team=\"None\"} 1.77e+09\n"
      "process_start_time_seconds 1.79600569776e+09\n");
  ASSERT_FALSE(page.error) << page.error->message;
  ASSERT_EQ(page.samples.size(), 3u);
  EXPECT_EQ(page.samples[0].labels, (Labels{{"__name__", "x_total"},
                                            {"exception_class", "Openai.Timeout"},
                                            {"model", "gpt-4o"},
                                            {"team", "None"}}));
  EXPECT_EQ(page.samples[0].value, 41);
  EXPECT_EQ(page.samples[1].name, "x_created");
  EXPECT_EQ(page.samples[2].value, 1796005697.76);
  EXPECT_FALSE(page.samples[2].at_ms);
}

TEST(TextFormat, ReadsNumbersAsPrometheusDoes) {
  EXPECT_EQ(value_of("41.0"), 41);
  EXPECT_EQ(value_of("1.2e+010"), 12'000'000'000.0);
  EXPECT_EQ(value_of("4.2e-07"), 4.2e-07);
  EXPECT_EQ(value_of("+7"), 7);
  EXPECT_EQ(value_of(".5"), 0.5);
  EXPECT_EQ(value_of("5."), 5);
  EXPECT_EQ(value_of("9.223372036854776e+18"), 9.223372036854776e+18);
  EXPECT_TRUE(std::signbit(value_of("-0")));
  EXPECT_EQ(value_of("1e-400"), 0);
  EXPECT_EQ(value_of("1797693134862315708145274237317e-330"), 0.0 + 1.797693134862315708e-300);
  EXPECT_TRUE(std::isnan(value_of("NaN")));
  EXPECT_EQ(value_of("+Inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value_of("-Inf"), -std::numeric_limits<double>::infinity());
}

TEST(TextFormat, RefusesWhatIsNoNumberAndNamesTheLine) {
  for (const std::string_view bad :
       {"0x1p-2", "0x10", "1_000", "1e400", "-1e400", "1,5", "12a", "--1", "+-1", "++1", "nan(1)",
        "e5", "\"1\"", "one", "1e", "\xff"}) {
    const Page page = read_page("ok 1\nx " + std::string(bad) + "\n");
    EXPECT_THAT(message_of(page), HasSubstr("line 2")) << bad;
    EXPECT_THAT(message_of(page), HasSubstr("is not a number")) << bad;
  }
}

TEST(TextFormat, UnescapesLabelValuesOnlyWhereAsked) {
  const Page page =
      read_page(R"(x{a="q\"uote",b="back\\slash",c="new\nline",d="other\t",e="}{,="} 1)"
                "\n");
  ASSERT_FALSE(page.error) << page.error->message;
  EXPECT_EQ(page.samples[0].labels, (Labels{{"__name__", "x"},
                                            {"a", "q\"uote"},
                                            {"b", "back\\slash"},
                                            {"c", "new\nline"},
                                            {"d", "other\\t"},
                                            {"e", "}{,="}}));
}

TEST(TextFormat, ReplacesInvalidUtf8InLabelValues) {
  EXPECT_EQ(unescape_label("a\xC0\xA7z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(unescape_label("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(unescape_label("\xF0\x9F\x98\x80 \xC3\xA9"), "\xF0\x9F\x98\x80 \xC3\xA9");
  EXPECT_EQ(unescape_label("cut \xE2\x82"), "cut \xEF\xBF\xBD");  // One cut character.
}

TEST(TextFormat, KnowsASeriesAgainWhateverTheOrderOfItsLabels) {
  const Page page =
      read_page("x{a=\"1\",b=\"2\"} 1\nx{b=\"2\",a=\"1\"} 2\nx{b=\"2\", a=\"1\" } 3\n");
  ASSERT_EQ(page.samples.size(), 3u) << message_of(page);
  EXPECT_EQ(page.samples[0].labels, page.samples[1].labels);
  EXPECT_EQ(page.samples[1].key, page.samples[2].key);
}

TEST(TextFormat, AcceptsBlanksEmptyBracesAndATrailingComma) {
  const Page page = read_page("  x {} 1\n\n\ty\t{ a = \"1\" , }   2  \r\nz{a=\"1\"}3\n");
  ASSERT_FALSE(page.error) << page.error->message;
  ASSERT_EQ(page.samples.size(), 3u);
  EXPECT_EQ(page.samples[1].labels, (Labels{{"__name__", "y"}, {"a", "1"}}));
  EXPECT_EQ(page.samples[2].value, 3);
}

TEST(TextFormat, ReadsQuotedNames) {
  const Page page = read_page("{\"http.requests\",\"service.name\"=\"a\",code=\"5\"} 1\n");
  ASSERT_FALSE(page.error) << page.error->message;
  EXPECT_EQ(page.samples[0].name, "http.requests");
  EXPECT_EQ(page.samples[0].labels,
            (Labels{{"__name__", "http.requests"}, {"service.name", "a"}, {"code", "5"}}));
}

TEST(TextFormat, RefusesBrokenLinesWithTheirNumberAndCause) {
  const std::string nul("x{a=\"1\0\"} 1", 11);
  std::string many = "x{";
  for (int i = 0; i < 200; ++i) many += "l" + std::to_string(i) + "=\"v\",";
  many += "} 1";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"x{a=\"1\" 1", "expected , or }"},
      {"x{a=\"1\"", "aren't closed"},
      {"x{a=\"1", "isn't closed"},
      {"x{a=\"1\\\"} 1", "isn't closed"},
      {"x{a=1} 1", "in quotes"},
      {"x{a} 1", "expected ="},
      {"x{=\"1\"} 1", "expected a label name"},
      {"x{1a=\"1\"} 1", "expected a label name"},
      {"x{a=\"1\",,b=\"2\"} 1", "expected a label name"},
      {"x{a=\"1\"b=\"2\"} 1", "expected , or }"},
      {"x{a=\"1\",a=\"2\"} 1", "label a stands twice"},
      {"x{b=\"1\",a=\"2\",b=\"3\"} 1", "label b stands twice"},
      {"x{\"y\"} 1", "a quoted text without ="},
      {"{a=\"1\"} 1", "expected a metric name"},
      {"x", "there is no value"},
      {"x{a=\"1\"}", "there is no value"},
      {"x-y 1", "follows the name"},
      {"1x 1", "expected a metric name"},
      {"<html>", "expected a metric name"},
      {"x 1 2 3", "follows the value"},
      {"x 1 2.5", "not a timestamp in milliseconds"},
      {"x 1 99999999999999999999", "not a timestamp"},
      {"x 1 999999999999999999", "not a timestamp"},
      {"x 1 # {trace=\"1\"} 1", "not a timestamp"},
      {nul, "NUL"},
      {many, "more than 128 labels"},
  };
  for (const auto& [line, cause] : cases) {
    const Page page = read_page("# TYPE x counter\nok 1\n" + line + "\nafter 2\n");
    EXPECT_THAT(message_of(page), HasSubstr("line 3: ")) << line;
    EXPECT_THAT(message_of(page), HasSubstr(cause)) << line;
    EXPECT_EQ(page.error ? page.error->kind : ErrorKind::invalid, ErrorKind::corrupt) << line;
  }
}

TEST(TextFormat, RefusesAPageThatEndsInTheMiddleOfALine) {
  // "12" may be the beginning of "1234": read as it is, it would look like a reset counter.
  EXPECT_THAT(message_of(read_page("x 1\ny 12")), HasSubstr("line 2: the page ends in the middle"));
}

TEST(TextFormat, RefusesAnEndlessLineBeforeItFillsTheMemory) {
  TextParser parser(
      TextFormat::prometheus, [](std::string_view) { return true; },
      [](const TextSample&) { return ok(); });
  const std::string piece(64 * 1024, 'a');
  ASSERT_TRUE(parser.feed("ok 1\nx{a=\""));
  Status status = ok();
  std::size_t fed = 0;
  while (status && fed < 10'000'000) {
    status = parser.feed(piece);
    fed += piece.size();
  }
  ASSERT_FALSE(status);
  EXPECT_LE(fed, TextParser::kMaxLine + 2 * piece.size());
  EXPECT_THAT(status.error().message, HasSubstr("line 2: longer than 1 MiB"));
  EXPECT_FALSE(parser.feed("y 1\n"));
  EXPECT_FALSE(parser.finish());
}

TEST(TextFormat, SkipsNamesThatNobodyWantsWithoutReadingTheirLines) {
  std::vector<std::string> asked;
  std::vector<std::string> got;
  TextParser parser(
      TextFormat::prometheus,
      [&](std::string_view name) {
        asked.emplace_back(name);
        return name == "x_total";
      },
      [&](const TextSample& sample) {
        got.emplace_back(sample.series);
        return ok();
      });
  ASSERT_TRUE(parser.feed("y{broken\ny 1\ny 2\nx_total{a=\"1\"} 1\nx_total{a=\"2\"} 1\nz 1\n"));
  ASSERT_TRUE(parser.finish());
  EXPECT_THAT(asked, ElementsAre("y", "x_total", "z"));
  EXPECT_THAT(got, ElementsAre("x_total{a=\"1\"}", "x_total{a=\"2\"}"));
}

TEST(TextFormat, SaysWhichLineItsTakerRefused) {
  TextParser parser(
      TextFormat::prometheus, [](std::string_view) { return true; },
      [](const TextSample&) -> Status {
        return Error{ErrorKind::too_large, "full"};
      });
  const Status status = parser.feed("# c\nx 1\n");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), (Error{ErrorKind::too_large, "line 2: full"}));
}

TEST(TextFormat, ReadsMillisecondsOnPagesAndSecondsInOpenMetrics) {
  EXPECT_EQ(read_page("x 1 1796005705732\n").samples[0].at_ms, 1796005705732);
  EXPECT_EQ(read_page("x 1 -5\n").samples[0].at_ms, -5);
  const Page om =
      read_page("x_total 1 1796005705.732\nx_total 2 1796005710\nx_total 3 1.7e9\n# EOF\n",
                TextFormat::openmetrics);
  ASSERT_EQ(om.samples.size(), 3u) << message_of(om);
  EXPECT_EQ(om.samples[0].at_ms, 1796005705732);
  EXPECT_EQ(om.samples[1].at_ms, 1796005710000);
  EXPECT_EQ(om.samples[2].at_ms, 1700000000000);
  EXPECT_THAT(message_of(read_page("x 1 NaN\n# EOF\n", TextFormat::openmetrics)),
              HasSubstr("not a timestamp in seconds"));
  EXPECT_THAT(message_of(read_page("x 1 1e300\n# EOF\n", TextFormat::openmetrics)),
              HasSubstr("not a timestamp in seconds"));
}

TEST(TextFormat, PassesOverExemplarsInOpenMetrics) {
  const Page page = read_page(
      "# TYPE x counter\n# UNIT x seconds\n"
      "x_total{a=\"1\"} 17.0 1520879607.789 # {trace_id=\"K # z\"} 1.0 1520879606\n"
      "x_created{a=\"1\"} 1520430000.123\n"
      "y_bucket{le=\"0.01\"} 0 # {} 0.1\n# EOF\n",
      TextFormat::openmetrics);
  ASSERT_FALSE(page.error) << page.error->message;
  ASSERT_EQ(page.samples.size(), 3u);
  EXPECT_EQ(page.samples[0].value, 17);
  EXPECT_EQ(page.samples[0].at_ms, 1520879607789);
  EXPECT_EQ(page.samples[1].name, "x_created");
}

TEST(TextFormat, RefusesOpenMetricsThatWasCutOff) {
  EXPECT_THAT(message_of(read_page("x 1 1\n", TextFormat::openmetrics)), HasSubstr("\"# EOF\""));
  EXPECT_THAT(message_of(read_page("x 1 1\n# EO", TextFormat::openmetrics)),
              HasSubstr("\"# EOF\""));
  EXPECT_THAT(message_of(read_page("", TextFormat::openmetrics)), HasSubstr("\"# EOF\""));
  EXPECT_THAT(message_of(read_page("x 1 1\n# EOF\ny 1\n", TextFormat::openmetrics)),
              HasSubstr("line 3: something follows"));
  EXPECT_EQ(message_of(read_page("x 1 1\n# EOF", TextFormat::openmetrics)), "no error");
}

TEST(TextFormat, ReadsTheSameWhereverThePiecesAreCut) {
  const std::string text =
      "# TYPE x_total counter\nx_total{a=\"q\\\"\",b=\"\\\\\"} 1.5 1796005705732\r\n"
      "y{c=\"\xC3\xA9\"} NaN\n\n  z 3\n";
  const Page whole = read_page(text);
  ASSERT_FALSE(whole.error);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const Page page = read_page(text, TextFormat::prometheus, piece);
    ASSERT_EQ(page.samples.size(), whole.samples.size()) << piece;
    for (std::size_t i = 0; i < page.samples.size(); ++i) {
      EXPECT_EQ(page.samples[i].labels, whole.samples[i].labels) << piece;
      EXPECT_EQ(page.samples[i].key, whole.samples[i].key) << piece;
    }
  }
}

// What the writer side of this property does by hand: escapes as the format says.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

TEST(TextFormat, ReadsBackWhateverLabelsAreWritten) {
  std::mt19937 random(7);
  const std::string alphabet = "\\\"\n{},= ab\xC3\xA9#";
  for (int round = 0; round < 2000; ++round) {
    Labels labels{{"__name__", "m"}};
    std::string line = "m{";
    for (char name = 'a'; name < 'd'; ++name) {
      std::string value = "v";
      for (auto i = random() % 8; i > 0; --i) {
        const char c = alphabet[random() % alphabet.size()];
        value += c == '\xC3' || c == '\xA9' ? std::string("\xC3\xA9") : std::string(1, c);
      }
      line += std::string(1, name) + "=\"" + escaped(value) + "\",";
      labels.set(std::string(1, name), value);
    }
    const Page page = read_page(line + "} 1\n");
    ASSERT_FALSE(page.error) << line << page.error->message;
    ASSERT_EQ(page.samples[0].labels, labels) << line;
  }
}

TEST(TextFormat, SurvivesRandomDamageOfAPage) {
  const std::string good =
      "# HELP a b\n# TYPE a counter\na_total{x=\"1\\n\",y=\"}\\\"\"} 1e+09 17\n{\"q\",z=\"\"} "
      "NaN\n# EOF\n";
  std::mt19937 random(11);
  std::size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
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
          text.insert(at, 1, "\"\\{}=,# \n\r\0x1"[random() % 13]);
      }
      if (text.empty()) text = "x";
    }
    for (const TextFormat format : {TextFormat::prometheus, TextFormat::openmetrics}) {
      refused += read_page(text, format, 1 + random() % 40).error ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace outcomed
