#include "daemon/runtime/reporting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace outcomed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Outcome = SendResult::Outcome;

// Lines as "warn event=… key=…".
class Lines final : public Logger {
 public:
  void log(LogLevel level, std::string_view event, const LogFields& fields) override {
    static constexpr std::array<std::string_view, 4> kNames = {"debug ", "info ", "warn ",
                                                               "error "};
    said.push_back(std::string(kNames.at(static_cast<std::size_t>(level))) + logfmt(event, fields));
  }
  std::vector<std::string> take() { return std::exchange(said, {}); }
  std::vector<std::string> said;
};

class ReportingTest : public ::testing::Test {
 protected:
  static DeliveryReport report(Outcome outcome, const std::string& detail, std::size_t waiting) {
    DeliveryReport made;
    made.receiver = "hook";
    made.outcome = outcome;
    made.detail = detail;
    made.alerts = 1;
    made.attempts = 1;
    made.waiting = waiting;
    return made;
  }
  static DeliveryReport lost(const std::string& model) {
    DeliveryReport made = report(Outcome::rejected, "HTTP 401", 0);
    made.dead = {{"e-" + model, "{model=\"" + model + "\"}", AlertStatus::firing}};
    return made;
  }
  static MirrorDelivery::Round round(const std::string& peer, Outcome outcome,
                                     const std::string& detail) {
    return {1, peer, {outcome, std::nullopt, detail}};
  }

  Lines lines;
  testing::FakeClock clock{from_unix_ms(1'796'040'000'000)};
  Metrics metrics{"test", clock.now()};
  Reporting reporting{lines, metrics, clock};
};

TEST_F(ReportingTest, EachDeadLetterIsAnErrorOfItsOwn) {
  reporting.delivered(lost("a"));
  reporting.delivered(lost("b"));
  const auto said = [](const std::string& model) {
    return AllOf(HasSubstr("error event=\"given up telling\""), HasSubstr("receiver=hook"),
                 HasSubstr("model=\\\"" + model), HasSubstr("status=firing"),
                 HasSubstr("episode=e-" + model), HasSubstr("reason=\"HTTP 401\""));
  };
  EXPECT_THAT(lines.take(), ElementsAre(said("a"), said("b")));
  EXPECT_THAT(metrics.page(), HasSubstr("result=\"dead\"} 2"));
}

TEST_F(ReportingTest, TroubleIsNotOverWhileAnotherMessageWaits) {
  reporting.delivered(report(Outcome::retry, "HTTP 503", 2));
  EXPECT_THAT(lines.take(), ElementsAre(HasSubstr("warn event=\"could not tell\"")));
  reporting.delivered(report(Outcome::delivered, "HTTP 200", 1));
  EXPECT_THAT(lines.take(), ElementsAre(HasSubstr("info event=told")));
  reporting.delivered(lost("a"));
  EXPECT_THAT(lines.take(), ElementsAre(HasSubstr("given up telling")));
  reporting.delivered(report(Outcome::delivered, "HTTP 200", 0));
  EXPECT_THAT(lines.take(), ElementsAre(HasSubstr("info event=told"),
                                        HasSubstr("info event=\"could not tell: over\"")));
}

TEST_F(ReportingTest, PeersAreInTroubleEachForItself) {
  reporting.mirrored("oncall", round("http://am-1", Outcome::retry, "timed out"));
  reporting.mirrored("oncall", round("http://am-2", Outcome::delivered, "HTTP 200"));
  EXPECT_THAT(lines.take(),
              ElementsAre(AllOf(HasSubstr("could not tell"), HasSubstr("peer=http://am-1"))));
  reporting.mirrored("oncall", round("http://am-1", Outcome::retry, "timed out"));
  EXPECT_THAT(lines.take(), IsEmpty());
  reporting.mirrored("oncall", round("http://am-1", Outcome::delivered, "HTTP 200"));
  EXPECT_THAT(lines.take(), ElementsAre(HasSubstr("could not tell: over")));
}

}  // namespace
}  // namespace outcomed
