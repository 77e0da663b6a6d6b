#include "alerts/message.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace outcomed {
namespace {

bool same(const AlertMessage& a, const AlertMessage& b) {
  return a.status == b.status && a.labels == b.labels && a.annotations == b.annotations &&
         a.starts_at == b.starts_at && a.ends_at == b.ends_at &&
         a.generator_url == b.generator_url && a.episode == b.episode;
}

bool same(const Message& a, const Message& b) {
  if (a.alerts.size() != b.alerts.size()) return false;
  for (std::size_t i = 0; i < a.alerts.size(); ++i) {
    if (!same(a.alerts[i], b.alerts[i])) return false;
  }
  return a.idempotency_key == b.idempotency_key && a.receiver == b.receiver &&
         a.group_key == b.group_key && a.group_labels == b.group_labels &&
         a.external_url == b.external_url;
}

Message sample() {
  AlertMessage firing;
  firing.labels = {{"alertname", "model_failures"}, {"model", "judge"}};
  firing.annotations = {{"summary", "on: yes:"}, {"facts", "a: 1\nb: 2"}};
  firing.starts_at = from_unix_ms(1'796'005'900'123);
  firing.generator_url = "https://outcomed.example.org/";
  firing.episode = "00000000deadbeef-1796005900";
  AlertMessage resolved = firing;
  resolved.status = AlertStatus::resolved;
  resolved.ends_at = from_unix_ms(1'796'006'000'000);
  return {"key",
          "hooks",
          R"({}/{severity="page"}:{})",
          {{"rule", "r"}},
          "https://x.example",
          {firing, resolved}};
}

std::string text_of(std::mt19937& random) {
  static const std::string kPieces[] = {
      "a", "\"", "\\", "\n", "\x01", "é", "😀", "{", "}", "\xE2\x80\xA8", std::string(1, '\0')};
  std::string text;
  for (auto left = random() % 6; left > 0; --left) text += kPieces[random() % std::size(kPieces)];
  return text;
}

Labels labels_of(std::mt19937& random) {
  Labels labels;
  for (auto left = random() % 4; left > 0; --left) labels.set(text_of(random), text_of(random));
  return labels;
}

TEST(MessageJson, EveryFieldComesBack) {
  const auto back = message_from_json(to_json(sample()));
  ASSERT_TRUE(back);
  EXPECT_TRUE(same(*back, sample()));
}

TEST(MessageJson, AnEmptyMessageComesBack) {
  const auto back = message_from_json(to_json(Message{}));
  ASSERT_TRUE(back);
  EXPECT_TRUE(same(*back, Message{}));
}

TEST(MessageJson, RandomMessagesComeBackAndTheTextIsStable) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    Message message{text_of(random),   text_of(random), text_of(random),
                    labels_of(random), text_of(random), {}};
    for (auto left = random() % 4; left > 0; --left) {
      AlertMessage alert;
      alert.status = random() % 2 == 0 ? AlertStatus::firing : AlertStatus::resolved;
      alert.labels = labels_of(random);
      alert.annotations = labels_of(random);
      alert.starts_at = from_unix_ms(static_cast<std::int64_t>(random()) - 2'000'000'000);
      if (random() % 2 == 0) alert.ends_at = from_unix_ms(std::int64_t(random()) << 20);
      alert.generator_url = text_of(random);
      alert.episode = text_of(random);
      message.alerts.push_back(alert);
    }
    const std::string text = to_json(message);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto back = message_from_json(text);
    ASSERT_TRUE(back) << back.error().message << text;
    EXPECT_TRUE(same(*back, message)) << text;
    EXPECT_EQ(to_json(*back), text);
  }
}

TEST(MessageJson, ExtremeTimesComeBack) {
  for (const std::int64_t ms :
       {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    Message message = sample();
    message.alerts[0].starts_at = from_unix_ms(ms);
    message.alerts[0].ends_at = from_unix_ms(ms);
    const auto back = message_from_json(to_json(message));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(same(*back, message));
  }
}

TEST(MessageJson, InvalidUtf8BecomesTheReplacementCharacterEverywhere) {
  Message message = sample();
  const std::string bad = "x\xFF\xC0\xA7";
  const std::string good = "x\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD";
  message.idempotency_key = message.receiver = message.group_key = message.external_url = bad;
  message.group_labels = {{bad, bad}};
  message.alerts.resize(1);
  message.alerts[0].labels = {{bad, bad}};
  message.alerts[0].generator_url = message.alerts[0].episode = bad;
  const auto back = message_from_json(to_json(message));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->idempotency_key, good);
  EXPECT_EQ(back->receiver, good);
  EXPECT_EQ(back->group_key, good);
  EXPECT_EQ(back->external_url, good);
  EXPECT_EQ(back->group_labels.get(good), good);
  EXPECT_EQ(back->alerts[0].labels.get(good), good);
  EXPECT_EQ(back->alerts[0].generator_url, good);
  EXPECT_EQ(back->alerts[0].episode, good);
}

TEST(MessageJson, FieldsOfALaterReleaseAreSkipped) {
  auto tree = nlohmann::json::parse(to_json(sample()));
  tree["new"] = {1, 2, {{"deep", nullptr}}};
  tree["alerts"][0]["new"] = true;
  const auto back = message_from_json(tree.dump());
  ASSERT_TRUE(back);
  EXPECT_TRUE(same(*back, sample()));
}

TEST(MessageJson, DamagedTextIsAnErrorThatNamesThePlace) {
  const auto error_of = [](std::string_view text) {
    const auto back = message_from_json(text);
    EXPECT_FALSE(back) << text;
    return back ? std::string() : back.error().message;
  };
  EXPECT_EQ(error_of(""), "stored message: not JSON");
  EXPECT_EQ(error_of("{"), "stored message: not JSON");
  EXPECT_EQ(error_of("\xFF"), "stored message: not JSON");
  EXPECT_EQ(error_of("[]"), "stored message: it is not an object");
  const auto damaged = [&](auto change) {
    auto tree = nlohmann::json::parse(to_json(sample()));
    change(tree);
    return error_of(tree.dump());
  };
  using nlohmann::json;
  EXPECT_EQ(damaged([](json& t) { t.erase("receiver"); }), "stored message: receiver is missing");
  EXPECT_EQ(damaged([](json& t) { t["receiver"] = 1; }),
            "stored message: receiver is not a string");
  EXPECT_EQ(damaged([](json& t) { t["group_labels"] = 1; }),
            "stored message: group_labels is not an object");
  EXPECT_EQ(damaged([](json& t) { t["alerts"] = 1; }), "stored message: alerts is not a list");
  EXPECT_EQ(damaged([](json& t) { t["alerts"][1] = nullptr; }),
            "stored message: alerts[1] is not an object");
  EXPECT_EQ(damaged([](json& t) { t["alerts"][1]["status"] = "x"; }),
            "stored message: alerts[1].status is neither firing nor resolved");
  EXPECT_EQ(damaged([](json& t) { t["alerts"][0]["starts_at"] = 1.5; }),
            "stored message: alerts[0].starts_at is not a time in milliseconds");
  EXPECT_EQ(damaged([](json& t) { t["alerts"][0]["ends_at"] = UINT64_MAX; }),
            "stored message: alerts[0].ends_at is not a time in milliseconds");
  EXPECT_EQ(damaged([](json& t) { t["alerts"][0]["labels"]["a"] = 1; }),
            "stored message: alerts[0].labels has a value that is not a string");
}

TEST(MessageJson, EveryPrefixAndEveryFlippedByteIsRefusedOrReadButNeverFatal) {
  const std::string text = to_json(sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(message_from_json(std::string_view(text).substr(0, size)));
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'\0', '"', '}', '\xFF', '9'}) {
      std::string changed = text;
      changed[at] = c;
      static_cast<void>(message_from_json(changed));
    }
  }
}

TEST(MessageJson, DeepNestingIsNoDanger) {
  static_cast<void>(message_from_json(std::string(200'000, '[')));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_FALSE(message_from_json(deep));
  EXPECT_FALSE(message_from_json("{\"alerts\":" + deep + "}"));
}

}  // namespace
}  // namespace outcomed
