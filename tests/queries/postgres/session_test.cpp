// What the session makes of a client that a test plays.
#include "queries/postgres/session.h"

#include <gtest/gtest.h>

#include <deque>

namespace outcomed {
namespace {

struct Script {
  std::deque<Status> connects;  // Of the next connect()s; then all succeed.
  std::deque<Status> queries;   // Of the next statements that are not the role check.
  bool super = false;
  std::optional<std::string> writable;
  int connected = 0;
  int asked = 0;
};

class ScriptedConnection final : public SqlConnection {
 public:
  explicit ScriptedConnection(Script& script) : script_(script) {}

  Status query(const SqlQuery& query) override {
    if (query.text.find("pg_roles") != std::string::npos) {
      std::vector<SqlValue> row = {"watcher", script_.super ? "t" : "f", "f", "f", std::nullopt};
      if (script_.writable) row[4] = *script_.writable;
      return query.on_row(row);
    }
    ++script_.asked;
    if (script_.queries.empty()) return ok();
    Status status = script_.queries.front();
    script_.queries.pop_front();
    if (!status && status.error().kind != ErrorKind::rejected) usable_ = false;
    return status;
  }
  [[nodiscard]] bool usable() const override { return usable_; }

 private:
  Script& script_;
  bool usable_ = true;
};

class ScriptedClient final : public SqlClient {
 public:
  explicit ScriptedClient(Script& script) : script_(script) {}
  Result<std::unique_ptr<SqlConnection>> connect(const SqlAccess&, Duration) override {
    ++script_.connected;
    if (!script_.connects.empty()) {
      Status status = script_.connects.front();
      script_.connects.pop_front();
      if (!status) return status.error();
    }
    return std::unique_ptr<SqlConnection>(std::make_unique<ScriptedConnection>(script_));
  }

 private:
  Script& script_;
};

const Error kGone{ErrorKind::unavailable, "server closed the connection"};
const Error kRefused{ErrorKind::rejected, "column does not exist"};
const Error kSlow{ErrorKind::timeout, "no answer"};

TEST(PostgresSession, ReplacesADeadConnectionOnce) {
  Script script;
  ScriptedClient client(script);
  PostgresSession session({}, client);
  int runs = 0;
  script.queries = {kGone};
  EXPECT_TRUE(session.query({}, [&] { ++runs; }));
  EXPECT_EQ(script.connected, 2);
  EXPECT_EQ(runs, 2);
  script.queries = {kGone, kGone, kGone};
  EXPECT_FALSE(session.query({}));
  EXPECT_EQ(script.queries.size(), 1U);
}

TEST(PostgresSession, AsksAServerThatIsAwayOnce) {
  Script script;
  ScriptedClient client(script);
  PostgresSession session({}, client);
  script.connects = {kGone, kGone};
  EXPECT_FALSE(session.query({}));
  EXPECT_EQ(script.connected, 1);
}

TEST(PostgresSession, DoesNotRepeatWhatWasRefusedOrSlow) {
  Script script;
  ScriptedClient client(script);
  PostgresSession session({}, client);
  for (const Error& error : {kRefused, kSlow}) {
    script.asked = 0;
    script.queries = {error};
    EXPECT_FALSE(session.query({}));
    EXPECT_EQ(script.asked, 1);
  }
}

TEST(PostgresSession, RefusesARoleThatCanWriteUnlessItIsNamed) {
  Script script;
  script.writable = "public.users";
  ScriptedClient client(script);
  PostgresSession refused({}, client);
  const Status status = refused.query({});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::rejected);
  EXPECT_NE(status.error().message.find("role watcher can write to public.users"),
            std::string::npos);
  EXPECT_EQ(script.asked, 0);
  PostgresSettings settings;
  settings.allow_writable_role = {"watcher"};
  PostgresSession allowed(settings, client);
  EXPECT_TRUE(allowed.query({}));
  script.super = true;
  EXPECT_FALSE(PostgresSession({}, client).query({}));
}

}  // namespace
}  // namespace outcomed
