#include "queries/postgres/values.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

// Three hours ahead until a moment, two hours after it (clocks put back at 2026-10-25T00:00Z).
class OneChange final : public TimeZone {
 public:
  [[nodiscard]] Duration offset(Timestamp at) const override {
    return at < kChange ? Duration(3h) : Duration(2h);
  }
  static constexpr Timestamp kChange = from_unix_ms(1'792'886'400'000);
};

std::string time_of(std::string_view text, const TimeZone* zone = nullptr) {
  const auto time = parse_sql_time(text, zone);
  return time ? format_rfc3339(*time) : "ERROR " + time.error().message;
}

TEST(SqlTime, IsReadAsThePrinterOfTheServerWritesIt) {
  EXPECT_EQ(time_of("2026-11-30 02:35:46.381608+00"), "2026-11-30T02:35:46.381Z");
  EXPECT_EQ(time_of("2026-11-30 02:35:46"), "2026-11-30T02:35:46Z");
  EXPECT_EQ(time_of("2026-11-30"), "2026-11-30T00:00:00Z");
  EXPECT_EQ(time_of("2026-11-30 00:00:00+03"), "2026-11-29T21:00:00Z");
  EXPECT_EQ(time_of("2026-11-30 00:00:00-03:30"), "2026-11-30T03:30:00Z");
  EXPECT_EQ(time_of("1901-01-01 00:00:00+02:30:17"), "1900-12-31T21:29:43Z");
  EXPECT_EQ(time_of("1796005900.5"), "2026-11-30T02:31:40.500Z");
}

TEST(SqlTime, WithoutZoneIsLocal) {
  const OneChange zone;
  EXPECT_EQ(time_of("2026-10-01", &zone), "2026-09-30T21:00:00Z");
  EXPECT_EQ(time_of("2026-11-01", &zone), "2026-10-31T22:00:00Z");
  // 02:00 to 03:00 happens twice: the first is meant.
  EXPECT_EQ(time_of("2026-10-25 02:30:00", &zone), "2026-10-24T23:30:00Z");
}

TEST(SqlTime, ThatIsNoneIsRefused) {
  for (const char* text : {"", "infinity", "-infinity", "0044-03-15 00:00:00 BC", "yesterday",
                           "2026-02-30", "2026-11-30 2:00", "NaN", "2026-11-30 00:00:00 nowhere"}) {
    EXPECT_FALSE(parse_sql_time(text, nullptr)) << text;
  }
}

TEST(SqlTime, IsWrittenWithItsOffset) {
  const OneChange zone;
  EXPECT_EQ(sql_time(OneChange::kChange - 1h, &zone), "2026-10-25 02:00:00.000+03:00:00");
  EXPECT_EQ(sql_time(from_unix_ms(1'796'005'946'381), nullptr), "2026-11-30 02:32:26.381+00:00:00");
}

TEST(SqlCount, IsReadHoweverItIsTyped) {
  for (const auto& [text, value] : {std::pair<const char*, std::int64_t>{"12", 12},
                                    {"12.000", 12},
                                    {"1.2e3", 1200},
                                    {"0", 0},
                                    {"9223372036854775807", 9'223'372'036'854'775'807}}) {
    const auto count = parse_sql_count(text);
    ASSERT_TRUE(count) << text;
    EXPECT_EQ(*count, value);
  }
  for (const char* text :
       {"", "NaN", "Infinity", "-1", "0.5", "9223372036854775808", "1e30", "x", "12 ", "0x10"}) {
    EXPECT_FALSE(parse_sql_count(text)) << text;
  }
}

}  // namespace
}  // namespace outcomed
