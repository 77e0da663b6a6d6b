#include "daemon/net/response_reader.h"

#include <gtest/gtest.h>

#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

class ResponseReaderTest : public ::testing::Test {
 protected:
  void start(ResponseReader& reader, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) ASSERT_TRUE(reader.take_header(line + "\r\n"));
    ASSERT_TRUE(reader.take_header("\r\n"));
  }
  void start_gzip(ResponseReader& reader) {
    start(reader, {"HTTP/1.1 200 OK", "Content-Encoding: gzip"});
  }

  HttpRequest request;
};

TEST_F(ResponseReaderTest, NamesAreLowerCaseAndValuesTrimmed) {
  ResponseReader reader(request);
  start(reader, {"HTTP/1.1 429 Too Many", "Retry-After:  2 ", "X-Empty:", "X-Folded: a", "\t b",
                 "no colon", "RETRY-AFTER: 3"});
  const HttpResponse& response = reader.response();
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.header("retry-after"), "2");
  EXPECT_EQ(response.header("x-empty"), "");
  EXPECT_EQ(response.header("x-folded"), "a b");
  EXPECT_EQ(response.headers.size(), 4U);
}

TEST_F(ResponseReaderTest, InterimAnswersLeaveNothingBehind) {
  ResponseReader reader(request);
  start(reader, {"HTTP/1.1 103 Early Hints", "Link: x"});
  start(reader, {"HTTP/1.1 200 OK", "A: b"});
  EXPECT_EQ(reader.response().status, 200);
  EXPECT_EQ(reader.response().headers.size(), 1U);
}

TEST_F(ResponseReaderTest, TrailersAreNoHeaders) {
  ResponseReader reader(request);
  start(reader, {"HTTP/1.1 200 OK"});
  ASSERT_TRUE(reader.take_body("x"));
  ASSERT_TRUE(reader.take_header("Authorization: trailer\r\n"));
  EXPECT_TRUE(reader.response().headers.empty());
}

TEST_F(ResponseReaderTest, HeadersOfAllAnswersTogetherHaveOneLimit) {
  ResponseReader reader(request);
  const std::string line = "A: " + std::string(1019, 'x') + "\r\n";  // 1 KiB.
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(reader.take_header(line));
  EXPECT_EQ(reader.take_header("\r\n").error().kind, ErrorKind::too_large);
}

TEST_F(ResponseReaderTest, GzipDecodesWhereverThePiecesAreCut) {
  const std::string text = "a metric 1\nanother 2\n" + std::string(100, 'z');
  const std::string packed = gzip_compressed(text);
  for (std::size_t cut = 0; cut <= packed.size(); ++cut) {
    ResponseReader reader(request);
    start_gzip(reader);
    ASSERT_TRUE(reader.take_body(std::string_view(packed).substr(0, cut)));
    ASSERT_TRUE(reader.take_body(std::string_view(packed).substr(cut)));
    ASSERT_TRUE(reader.finish());
    ASSERT_EQ(reader.response().body, text);
  }
}

TEST_F(ResponseReaderTest, GzipThatEndsEarlyIsCorruptWhereverItEnds) {
  const std::string packed = gzip_compressed("a metric 1\nanother 2\n");
  for (std::size_t end = 1; end < packed.size(); ++end) {
    ResponseReader reader(request);
    start_gzip(reader);
    ASSERT_TRUE(reader.take_body(std::string_view(packed).substr(0, end)));
    auto finished = reader.finish();
    ASSERT_FALSE(finished) << end;
    EXPECT_EQ(finished.error().kind, ErrorKind::corrupt);
  }
}

TEST_F(ResponseReaderTest, GzipWithAFlippedBitNeverDecodesToSomethingElse) {
  const std::string text = "a metric 1\nanother 2\n";
  const std::string packed = gzip_compressed(text);
  for (std::size_t i = 0; i < packed.size() * 8; ++i) {
    std::string damaged = packed;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    ResponseReader reader(request);
    start_gzip(reader);
    const bool taken = reader.take_body(damaged).has_value() && reader.finish().has_value();
    // Bits of the time stamp and the like change nothing.
    if (taken) {
      EXPECT_EQ(reader.response().body, text) << i;
    }
  }
}

TEST_F(ResponseReaderTest, SeveralGzipMembersAreOneBodyAndJunkBehindIsCorrupt) {
  ResponseReader two(request);
  start_gzip(two);
  ASSERT_TRUE(two.take_body(gzip_compressed("one ") + gzip_compressed("two")));
  ASSERT_TRUE(two.finish());
  EXPECT_EQ(two.response().body, "one two");
  ResponseReader junk(request);
  start_gzip(junk);
  EXPECT_EQ(junk.take_body(gzip_compressed("one") + "junk").error().kind, ErrorKind::corrupt);
}

TEST_F(ResponseReaderTest, AnEmptyGzipBodyIsWhole) {
  ResponseReader reader(request);
  start_gzip(reader);
  EXPECT_TRUE(reader.finish());
  EXPECT_EQ(reader.response().body, "");
}

TEST_F(ResponseReaderTest, TheLimitCountsDecodedBytesExactly) {
  for (const bool gzip : {false, true}) {
    for (const std::int64_t limit : {99999, 100000}) {
      request.max_bytes = limit;
      ResponseReader reader(request);
      start(reader, {"HTTP/1.1 200 OK", gzip ? "Content-Encoding: gzip" : "A: b"});
      const std::string text(100000, 'x');
      auto taken = reader.take_body(gzip ? gzip_compressed(text) : text);
      EXPECT_EQ(taken.has_value(), limit == 100000);
      if (!taken) {
        EXPECT_EQ(taken.error().kind, ErrorKind::too_large);
      }
    }
  }
}

TEST_F(ResponseReaderTest, EndlessGzipHeadersAreBounded) {
  request.max_bytes = 1000;
  ResponseReader reader(request);
  start_gzip(reader);
  // Flag 8: a file name follows, up to a NUL that never comes. It decodes to nothing.
  ASSERT_TRUE(reader.take_body(std::string_view("\x1f\x8b\x08\x08\0\0\0\0\0\0", 10)));
  Status taken = ok();
  int pieces = 0;
  for (; taken && pieces < 1000; ++pieces) taken = reader.take_body(std::string(1024, 'n'));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::too_large);
  EXPECT_LE(pieces, 70);
}

TEST_F(ResponseReaderTest, EncodingsThatWereNotAskedForAreCorrupt) {
  for (const std::string encoding : {"br", "deflate", "gzip, gzip", "zstd"}) {
    ResponseReader reader(request);
    ASSERT_TRUE(reader.take_header("HTTP/1.1 200 OK\r\n"));
    ASSERT_TRUE(reader.take_header("Content-Encoding: " + encoding + "\r\n"));
    EXPECT_EQ(reader.take_header("\r\n").error().kind, ErrorKind::corrupt) << encoding;
  }
}

}  // namespace
}  // namespace outcomed::testing
