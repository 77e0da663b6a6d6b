#include "queries/recording/csv_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text) {
  CsvReader reader(text);
  std::vector<CsvField> fields;
  Rows rows;
  while (true) {
    const auto more = reader.next(fields);
    if (!more) {
      rows.push_back({"error " + std::to_string(reader.line()) + ":" +
                      std::to_string(reader.column()) + " " + more.error().message});
      return rows;
    }
    if (!*more) return rows;
    std::vector<std::string>& row = rows.emplace_back();
    for (const CsvField& field : fields) row.emplace_back(field.text);
  }
}

TEST(CsvText, ReadsLinesHoweverTheyEnd) {
  const Rows wanted = {{"a", "b"}, {"1", "2"}, {"", ""}};
  EXPECT_EQ(rows_of("a,b\n1,2\n,\n"), wanted);
  EXPECT_EQ(rows_of("a,b\r\n1,2\r\n,"), wanted);
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a,b\n\n\r\n1,2\n,\r"),
            wanted);
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("\n\n"), Rows{});
}

TEST(CsvText, ReadsQuotedFields) {
  EXPECT_EQ(rows_of("\"a,b\",\"say \"\"hi\"\"\",\"two\r\nlines\",\"\"\nx,\"\"\"\",y,z\n"),
            (Rows{{"a,b", "say \"hi\"", "two\r\nlines", ""}, {"x", "\"", "y", "z"}}));
}

TEST(CsvText, CountsLinesAcrossQuotedLineEnds) {
  CsvReader reader("a\n\"x\n\ny\",1\nlast,2\n");
  std::vector<CsvField> fields;
  ASSERT_TRUE(*reader.next(fields));
  ASSERT_TRUE(*reader.next(fields));
  EXPECT_EQ(reader.line(), 2u);
  ASSERT_TRUE(*reader.next(fields));
  EXPECT_EQ(reader.line(), 5u);
  EXPECT_EQ(fields[1].column, 6u);
}

TEST(CsvText, SaysWhereAFaultIs) {
  EXPECT_THAT(
      rows_of("a,b\n1,x\"y\n"),
      ElementsAre(ElementsAre("a", "b"),
                  ElementsAre("error 2:4 a quote inside a field that doesn't begin with one")));
  EXPECT_THAT(rows_of("a\n1,\"open\nand on"),
              ElementsAre(ElementsAre("a"),
                          ElementsAre("error 2:3 the quote that begins here isn't closed")));
  EXPECT_THAT(rows_of("\"a\"b\n"),
              ElementsAre(ElementsAre("error 1:4 after a closing quote comes a comma or the line's "
                                      "end")));
  EXPECT_THAT(rows_of(std::string("a,\0\n", 4)),
              ElementsAre(ElementsAre("error 1:3 holds a NUL byte")));
  EXPECT_THAT(rows_of(std::string(300, ',')),
              ElementsAre(ElementsAre("error 1:257 more than 256 fields")));
}

TEST(CsvText, ReadsBackWhateverIsWritten) {
  std::mt19937 random(5);
  const std::string alphabet = ",\"\r\n ab\xC3";
  for (int round = 0; round < 3000; ++round) {
    Rows rows(3, std::vector<std::string>(3));
    std::string text;
    for (auto& row : rows) {
      row[0] = "x";  // A row of empty fields alone could be taken for an empty line.
      for (std::size_t i = 1; i < row.size(); ++i) {
        for (auto n = random() % 6; n > 0; --n) row[i] += alphabet[random() % alphabet.size()];
      }
      text += csv_field(row[0]) + ',' + csv_field(row[1]) + ',' + csv_field(row[2]) +
              (round % 2 == 0 ? "\n" : "\r\n");
    }
    ASSERT_EQ(rows_of(text), rows) << text;
  }
}

}  // namespace
}  // namespace outcomed
