#include "queries/prometheus/remote_read.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <bit>

#include "queries/prometheus/protobuf.h"
#include "queries/prometheus/read_request.h"
#include "tests/queries/prometheus/collecting_sink.h"
#include "tests/queries/prometheus/mutations.h"
#include "tests/queries/prometheus/remote_messages.h"
#include "tests/queries/prometheus/xor_encoder.h"

namespace outcomed {
namespace {

constexpr std::string_view kStreamed =
    "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse";
constexpr std::string_view kPlain = "application/x-protobuf";
constexpr SampleSpan kAlways{INT64_MIN, INT64_MAX};

const Pairs kLabels{{"__name__", "x_total"}, {"model", "judge"}};

std::string chunk_message(const std::vector<Sample>& samples, std::uint64_t encoding = 1) {
  ProtoWriter chunk;
  chunk.varint(1, 0).varint(2, 0).varint(3, encoding).bytes(4, XorEncoder::encode(samples));
  return chunk.message();
}

std::string chunked_series(const Pairs& labels, const std::vector<std::string>& chunks) {
  ProtoWriter rest;
  for (const std::string& chunk : chunks) rest.bytes(2, chunk);
  return labels_message(labels) + rest.message();
}

std::string frame(const std::vector<std::string>& series) {
  ProtoWriter message;
  for (const std::string& one : series) message.bytes(1, one);
  message.varint(2, 0);
  return frame_of(message.message());
}

double real_from(std::uint64_t bits) { return std::bit_cast<double>(bits); }

std::string plain_body(const std::vector<std::string>& series) {
  ProtoWriter result;
  for (const std::string& one : series) result.bytes(1, one);
  ProtoWriter response;
  response.bytes(1, result.message());
  std::string body;
  snappy::Compress(response.message().data(), response.message().size(), &body);
  return body;
}

Status decode(const std::string& body, CollectingSink& sink, std::string_view type = kStreamed,
              SampleSpan span = kAlways, std::size_t piece = 0, Labels external = {}) {
  RemoteReadDecoder decoder(sink, span, std::move(external));
  if (piece == 0) piece = std::max<std::size_t>(body.size(), 1);
  for (std::size_t at = 0; at < body.size(); at += piece) {
    if (Status fed = decoder.feed(std::string_view(body).substr(at, piece)); !fed) return fed;
  }
  return decoder.finish(type);
}

const std::vector<Sample> kFirst{{1000, 1}, {2000, 3}, {3000, 2}};
const std::vector<Sample> kSecond{{4000, 5}, {5000, real_from(0x7ff0000000000002)}, {6000, 7}};

std::string two_series_body() {
  return frame({chunked_series(kLabels, {chunk_message(kFirst)})}) +
         frame({chunked_series(kLabels, {chunk_message(kSecond)}),
                chunked_series({{"__name__", "y"}, {"job", "b"}}, {chunk_message({{1, 2}})})});
}

TEST(RemoteRead, FramesGiveSeriesAndSamplesWhateverThePieces) {
  for (const std::size_t piece : {0, 1, 2, 3, 7, 64}) {
    CollectingSink sink;
    const Status status = decode(two_series_body(), sink, kStreamed, kAlways, piece);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_EQ(sink.series.size(), 2U);
    EXPECT_EQ(sink.series[0].labels, (Labels{{"__name__", "x_total"}, {"model", "judge"}}));
    EXPECT_EQ(sink.series[0].key, labels_message(kLabels));
    const auto all = sink.by_labels();
    EXPECT_EQ(all.at(sink.series[0].labels.to_string()),
              (std::vector<std::string>{"1000=1.000000", "2000=3.000000", "3000=2.000000",
                                        "4000=5.000000", "5000=stale", "6000=7.000000"}));
    EXPECT_EQ(sink.series[1].samples, (std::vector<Sample>{{1, 2}}));
    EXPECT_EQ(sink.asked_for_labels, 2);
  }
}

TEST(RemoteRead, OnlySamplesInsideTheSpanArePassedOn) {
  CollectingSink sink;
  ASSERT_TRUE(decode(two_series_body(), sink, kStreamed, {2000, 4000}));
  ASSERT_EQ(sink.series.size(), 2U);
  EXPECT_EQ(sink.series[0].samples, (std::vector<Sample>{{2000, 3}, {3000, 2}, {4000, 5}}));
  EXPECT_TRUE(sink.series[1].samples.empty());
}

TEST(RemoteRead, OverlappingChunksOfOneSeriesGiveEachSampleOnce) {
  CollectingSink sink;
  const std::string body = frame({chunked_series(
      kLabels, {chunk_message(kFirst), chunk_message({{2000, 3}, {3000, 2}, {3500, 9}})})});
  ASSERT_TRUE(decode(body, sink));
  EXPECT_EQ(sink.series[0].samples,
            (std::vector<Sample>{{1000, 1}, {2000, 3}, {3000, 2}, {3500, 9}}));
}

TEST(RemoteRead, ExternalLabelsAreTakenOff) {
  CollectingSink sink;
  const std::string body =
      frame({chunked_series({{"__name__", "x"}, {"cluster", "eu"}, {"replica", "a"}},
                            {chunk_message(kFirst)}),
             chunked_series({{"__name__", "x"}, {"cluster", "us"}, {"replica", "a"}},
                            {chunk_message(kFirst)})});
  ASSERT_TRUE(decode(body, sink, kStreamed, kAlways, 0, {{"cluster", "eu"}, {"replica", "a"}}));
  EXPECT_EQ(sink.series[0].labels, (Labels{{"__name__", "x"}}));
  // A series with a value of its own keeps it, as in Prometheus.
  EXPECT_EQ(sink.series[1].labels, (Labels{{"__name__", "x"}, {"cluster", "us"}}));
}

TEST(RemoteRead, AnEmptyAnswerHasNoSeries) {
  CollectingSink sink;
  EXPECT_TRUE(decode("", sink));
  EXPECT_TRUE(decode(frame({}), sink));
  EXPECT_TRUE(decode(plain_body({}), sink, kPlain));
  EXPECT_TRUE(sink.series.empty());
}

TEST(RemoteRead, ACutOffBodyIsCorrupt) {
  const std::string body = two_series_body();
  const std::size_t first = frame({chunked_series(kLabels, {chunk_message(kFirst)})}).size();
  for (std::size_t size = 1; size < body.size(); ++size) {
    if (size == first)
      continue;  // A whole frame: nothing in the protocol tells that more would come.
    CollectingSink sink;
    const Status status = decode(body.substr(0, size), sink);
    ASSERT_FALSE(status) << size;
    EXPECT_EQ(status.error().kind, ErrorKind::corrupt);
  }
}

TEST(RemoteRead, AFlippedBitIsFoundByTheChecksum) {
  const std::string body = two_series_body();
  for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
    std::string damaged = body;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    CollectingSink sink;
    ASSERT_FALSE(decode(damaged, sink)) << bit;
  }
}

TEST(RemoteRead, ChunksWithoutFloatsAreUnsupportedAndTheSeriesIsNamed) {
  for (const std::uint64_t encoding : {0, 2, 3, 9}) {
    CollectingSink sink;
    const Status status =
        decode(frame({chunked_series(kLabels, {chunk_message(kFirst, encoding)})}), sink);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::unsupported);
    EXPECT_NE(status.error().message.find("x_total"), std::string::npos) << status.error().message;
  }
}

TEST(RemoteRead, MalformedMessagesAreCorrupt) {
  const std::string good = chunked_series(kLabels, {chunk_message(kFirst)});
  ProtoWriter late;
  late.bytes(2, chunk_message(kFirst));
  ProtoWriter no_name;
  no_name.bytes(1, ProtoWriter().bytes(2, "v").message());
  ProtoWriter bad_utf8;
  bad_utf8.bytes(1, ProtoWriter().bytes(1, "a").bytes(2, "\xff").message());
  const std::string series[] = {
      good + "\x0a",                             // A field cut off.
      late.message() + labels_message(kLabels),  // Labels behind the chunks.
      no_name.message(),
      bad_utf8.message(),
      std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                  11),             // A length beyond everything.
      std::string("\x0b", 1),      // A group.
      std::string("\x00\x00", 2),  // Field 0.
      chunked_series(kLabels, {std::string("\x22\x01\x00\x18\x01", 5)}),  // One byte of a chunk.
  };
  for (const std::string& one : series) {
    CollectingSink sink;
    const Status status = decode(frame({one}), sink);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::corrupt) << status.error().message;
  }
  CollectingSink sink;
  EXPECT_FALSE(decode(frame_of("\x0a"), sink));
}

TEST(RemoteRead, TheOneMessageOfAnOlderServerIsReadToo) {
  const std::string body =
      plain_body({plain_series(kLabels, kFirst), plain_series({{"__name__", "y"}}, kSecond)});
  for (const std::size_t piece : {0, 1, 5}) {
    CollectingSink sink;
    const Status status = decode(body, sink, kPlain, {2000, 5000}, piece);
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(sink.series[0].samples, (std::vector<Sample>{{2000, 3}, {3000, 2}}));
    EXPECT_EQ(sink.series[0].key, labels_message(kLabels));
    EXPECT_EQ(sink.series[1].samples.size(), 2U);
  }
  for (std::size_t size = 1; size < body.size(); ++size) {
    CollectingSink sink;
    EXPECT_FALSE(decode(body.substr(0, size), sink, kPlain)) << size;
  }
}

TEST(RemoteRead, FaultsInTheOneMessageAreCorrupt) {
  ProtoWriter histogram;
  histogram.bytes(4, "x");
  CollectingSink sink;
  const Status unsupported =
      decode(plain_body({labels_message(kLabels) + histogram.message()}), sink, kPlain);
  ASSERT_FALSE(unsupported);
  EXPECT_EQ(unsupported.error().kind, ErrorKind::unsupported);
  const std::vector<Sample> wrong[] = {{{2000, 1}, {1000, 1}}, {{1, 1}, {1, 1}}, {{INT64_MAX, 1}}};
  for (const auto& samples : wrong) {
    const Status status = decode(plain_body({plain_series(kLabels, samples)}), sink, kPlain);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::corrupt);
  }
  // A claim of 500 MB in a few bytes.
  EXPECT_FALSE(decode(std::string("\x80\x80\x80\xf0\x01\x00\x00\x00\x00\x00", 10), sink, kPlain));
}

TEST(RemoteRead, AWebPageIsCalledOne) {
  CollectingSink sink;
  const Status status = decode("<html>login</html>", sink, "text/html");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::corrupt);
  EXPECT_NE(status.error().message.find("web page"), std::string::npos);
}

TEST(RemoteRead, ARequestHoldsSpansMatchersAndTheWishForChunks) {
  const Matchers matchers{*Matcher::make("__name__", Matcher::Op::match, "a|b"),
                          *Matcher::make("job", Matcher::Op::not_equal, "x"),
                          *Matcher::make("c", Matcher::Op::equal, ""),
                          *Matcher::make("d", Matcher::Op::not_match, "e+")};
  const std::string body =
      remote_read_request({{{1796008000123, 1796008600000}, matchers}, {{-1, 0}, {}}});
  std::string message;
  ASSERT_TRUE(snappy::Uncompress(body.data(), body.size(), &message));
  std::vector<std::string> seen;
  ProtoFields request(message);
  while (request.next()) {
    if (request.is(2, WireType::varint))
      seen.push_back("accept " + std::to_string(request.number()));
    if (!request.is(1, WireType::bytes)) continue;
    ProtoFields query(request.bytes());
    while (query.next()) {
      if (query.is(1, WireType::varint) || query.is(2, WireType::varint)) {
        seen.push_back(std::to_string(static_cast<std::int64_t>(query.number())));
      }
      if (!query.is(3, WireType::bytes)) continue;
      std::string text;
      ProtoFields matcher(query.bytes());
      while (matcher.next()) {
        text += matcher.is(1, WireType::varint) ? std::to_string(matcher.number())
                                                : std::string(matcher.bytes());
        text += ' ';
      }
      seen.push_back(text);
    }
  }
  EXPECT_TRUE(request.ok());
  EXPECT_EQ(seen,
            (std::vector<std::string>{"1796008000123", "1796008600000", "2 __name__ a|b ",
                                      "1 job x ", "0 c  ", "3 d e+ ", "-1", "0", "accept 1"}));
}

// Damage inside frames with good checksums, so that it reaches the messages and chunks.
TEST(RemoteRead, DamagedMessagesNeverCrash) {
  Mutations mutations(5);
  const std::string message =
      ProtoWriter()
          .bytes(1, chunked_series(kLabels, {chunk_message(kFirst), chunk_message(kSecond)}))
          .bytes(1, chunked_series({{"__name__", "y"}}, {chunk_message(kSecond)}))
          .message();
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    CollectingSink sink;
    const Status status = decode(frame_of(mutations.damage(message)), sink);
    whole += status.has_value();
    for (const auto& one : sink.series) {
      for (std::size_t k = 1; k < one.samples.size(); ++k) {
        // In time order unless the damage made one series of two.
        ASSERT_TRUE(one.samples[k - 1].at_ms < one.samples[k].at_ms ||
                    one.labels.get("__name__") == "y" || sink.opened > 1);
      }
    }
  }
  EXPECT_GT(whole, 0);
}

TEST(RemoteRead, DamagedBodiesNeverCrash) {
  Mutations mutations(6);
  const std::string streamed = two_series_body();
  const std::string plain =
      plain_body({plain_series(kLabels, kFirst), plain_series({{"__name__", "y"}}, kSecond)});
  for (int i = 0; i < 20'000; ++i) {
    CollectingSink sink;
    (void)decode(mutations.damage(streamed), sink, kStreamed, kAlways, 1 + mutations.below(100));
    (void)decode(mutations.damage(plain), sink, kPlain, kAlways, 1 + mutations.below(100));
    (void)decode(mutations.damage(streamed), sink, mutations.below(2) == 0 ? kPlain : "text/html");
  }
}

}  // namespace
}  // namespace outcomed
