// Messages about answers that repeat our token. The client blanks it out of refusals; what is
// decoded or cut out of an answer is left to PrometheusApi.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/prometheus/api.h"
#include "tests/alerts/scripted_client.h"
#include "tests/queries/prometheus/collecting_sink.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedClient;

class ApiSecretsTest : public ::testing::Test {
 protected:
  ApiSecretsTest() { settings.url = "http://prom:9090"; }

  void answer(int status, const std::string& body) {
    client.always([=](const HttpRequest& request) -> Result<HttpResponse> {
      HttpResponse response = ScriptedClient::response(status, body);
      response.scrubber = SecretScrubber({Secret("t0ken-of-ours")});
      if (status != 200 || !request.on_body) return response;
      if (Status taken = request.on_body(body); !taken) return std::move(taken).error();
      return response;
    });
  }
  std::string query_error() {
    const auto info = PrometheusApi(settings, client).query("up", kAt, ReplyType::vector, sink);
    return info ? "no error" : info.error().message;
  }

  static constexpr Timestamp kAt = from_unix_ms(1'796'040'000'000);
  PrometheusSettings settings;
  ScriptedClient client;
  CollectingSink sink;
};

TEST_F(ApiSecretsTest, ARefusalThatHidesTheTokenInAnEscapeIsReadWithoutIt) {
  answer(401, R"({"status":"error","errorType":"auth","error":"token t0ken\u002dof-ours"})");
  EXPECT_THAT(query_error(), HasSubstr("HTTP 401, auth: token ***"));
}

TEST_F(ApiSecretsTest, AGoodStatusWithAPageThatIsNoneIsQuotedWithoutIt) {
  answer(200, "sign in; t0ken-of-ours is unknown");
  EXPECT_THAT(query_error(), HasSubstr("sign in; *** is unknown"));
  answer(200, R"({"status":"error","errorType":"auth","error":"token t0ken-of-ours"})");
  EXPECT_THAT(query_error(), Not(HasSubstr("t0ken")));
}

TEST_F(ApiSecretsTest, WarningsAreKeptWithoutIt) {
  settings.accept_partial = true;
  answer(200, R"({"status":"success","warnings":["no store for t0ken-of-ours"],)"
              R"("data":{"resultType":"vector","result":[]}})");
  PrometheusApi api(settings, client);
  ASSERT_TRUE(api.query("up", kAt, ReplyType::vector, sink));
  EXPECT_THAT(api.take_warnings(), ElementsAre("no store for ***"));
}

TEST_F(ApiSecretsTest, ListsThatCanNotBeReadAreQuotedWithoutIt) {
  answer(200, "t0ken-of-ours");
  PrometheusApi api(settings, client);
  const auto values = api.label_values("model", {}, {0, 1});
  ASSERT_FALSE(values);
  EXPECT_THAT(values.error().message, Not(HasSubstr("t0ken")));
  // Data stays as it is.
  answer(200, R"({"status":"success","data":["t0ken-of-ours"]})");
  EXPECT_THAT(*api.label_values("model", {}, {0, 1}), ElementsAre("t0ken-of-ours"));
}

}  // namespace
}  // namespace outcomed
