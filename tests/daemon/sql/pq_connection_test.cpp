// The connection on a real server: what it allows, and that nothing makes it wait.
#include <sys/socket.h>

#include "tests/daemon/sql/sql_fixture.h"

namespace outcomed {
namespace {

using testing::SqlTest;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Connection : public SqlTest {};

TEST_F(Connection, SaysWhoItIsAndCanOnlyRead) {
  auto connection = connect();
  ASSERT_NE(connection, nullptr);
  EXPECT_EQ(value(*connection, "select current_setting('application_name')"), "outcomed");
  EXPECT_EQ(value(*connection, "select current_setting('transaction_read_only')"), "on");
  EXPECT_EQ(value(*connection, "select current_setting('TimeZone')"), "UTC");
  EXPECT_EQ(value(*connection, "select current_setting('statement_timeout')"), "2700ms");
  sql("create table t (a int); grant all on t to reader");
  EXPECT_TRUE(holds(value(*connection, "insert into t values (1) returning a"), "25006"));
  EXPECT_TRUE(holds(value(*connection, "select set_config('transaction_read_only', 'off', false)"),
                    "ERROR"));
  EXPECT_EQ(ask("select count(*) from t"), "0");
  EXPECT_TRUE(connection->usable());
}

TEST_F(Connection, TakesOneQueryThatReturnsRows) {
  auto connection = connect();
  EXPECT_TRUE(holds(value(*connection, "select 1; select 2"), "42601"));
  EXPECT_TRUE(holds(value(*connection, "set lock_timeout = 1"), "returns no rows"));
  EXPECT_TRUE(holds(value(*connection, "commit"), "returns no rows"));
  EXPECT_TRUE(holds(value(*connection, "selec 1"), "42601"));
  EXPECT_EQ(value(*connection, "select 7"), "7");
  EXPECT_TRUE(holds(value(*connection, "copy (select 1) to stdout"), "returns no rows"));
  EXPECT_FALSE(connection->usable());
}

TEST_F(Connection, GivesTimesNumbersAndNullsAsText) {
  auto connection = connect();
  EXPECT_EQ(value(*connection, "select timestamptz '2026-11-30 03:00+03'"),
            "2026-11-30 00:00:00+00");
  EXPECT_EQ(value(*connection, "select null::text"), "NULL");
  EXPECT_EQ(value(*connection, "select 0.1::float8 + 0.2::float8"), "0.30000000000000004");
  EXPECT_EQ(value(*connection, "select $1 - interval '1 hour'", 3s,
                  {{"2026-11-30 00:00:00+00", SqlParameter::Type::timestamp_with_zone}}),
            "2026-11-29 23:00:00+00");
}

TEST_F(Connection, IsKeptWhenTheServerEndsASlowStatement) {
  auto connection = connect();
  EXPECT_TRUE(holds(value(*connection, "select pg_sleep(3600)", 500ms), "57014"));
  EXPECT_EQ(value(*connection, "select 1"), "1");
}

// It answers nothing until it is let go on, which is after the answer here.
TEST_F(Connection, OfAFrozenServerIsLeftAtTheDeadline) {
  auto connection = connect();
  const pid_t backend = std::stoi(value(*connection, "select pg_backend_pid()"));
  kill(backend, SIGSTOP);
  const std::string answer = value(*connection, "select 1", 400ms);
  kill(backend, SIGCONT);
  EXPECT_TRUE(holds(answer, "ERROR timeout")) << answer;
  EXPECT_FALSE(connection->usable());
}

TEST_F(Connection, IsNotWaitedForWhereNobodyAnswers) {
  // Accepts in the kernel, and nobody ever reads.
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  settings_.access.port = ntohs(address.sin_port);
  const auto silent = client_->connect(settings_.access, 300ms);
  close(listener);
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().kind, ErrorKind::timeout);
  const auto closed = client_->connect(settings_.access, 300ms);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().kind, ErrorKind::unavailable);
}

TEST_F(Connection, LooksNamesUp) {
  settings_.access.host = "localhost";
  EXPECT_NE(connect(), nullptr);
  settings_.access.host = "no-such-host.invalid";
  const auto unknown = client_->connect(settings_.access, 5s);
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().is_transient());
  settings_.access.host = server().folder();
  EXPECT_NE(connect(), nullptr);  // A Unix socket.
}

TEST_F(Connection, ThatWasEndedByTheServerSaysSo) {
  auto connection = connect();
  const std::string backend = value(*connection, "select pg_backend_pid()");
  sql("select pg_terminate_backend(" + backend + ")");
  const std::string answer = value(*connection, "select 1");
  EXPECT_TRUE(holds(answer, "ERROR unavailable")) << answer;
  EXPECT_FALSE(connection->usable());
  EXPECT_TRUE(holds(value(*connection, "select 1"), "closed"));
}

TEST_F(Connection, StopsAtItsLimits) {
  auto connection = connect();
  SqlQuery query;
  query.text = "select generate_series(1, 100000000)";
  query.max_rows = 1000;
  int rows = 0;
  query.on_row = [&](SqlRow) {
    ++rows;
    return ok();
  };
  const Status many = connection->query(query);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind, ErrorKind::too_large);
  EXPECT_EQ(rows, 1000);
  EXPECT_FALSE(connection->usable());
  connection = connect();
  query.text = "select repeat('x', 1000000) from generate_series(1, 1000)";
  query.max_bytes = 5'000'000;
  const Status large = connection->query(query);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, ErrorKind::too_large);
}

TEST_F(Connection, OfARowTakerThatGivesUpIsClosed) {
  auto connection = connect();
  SqlQuery query;
  query.text = "select generate_series(1, 100000000)";
  query.on_row = [](SqlRow) { return Status(Error{ErrorKind::invalid, "enough"}); };
  const Status status = connection->query(query);
  ASSERT_FALSE(status);
  EXPECT_TRUE(holds(status.error().message, "enough"));
  EXPECT_FALSE(connection->usable());
}

TEST_F(Connection, IsRefusedWhenThereAreTooMany) {
  std::vector<std::unique_ptr<SqlConnection>> taken;
  Result<std::unique_ptr<SqlConnection>> last = Error{};
  for (int i = 0; i < 15; ++i) {
    last = client_->connect(settings_.access, 3s);
    if (!last) break;
    taken.push_back(*std::move(last));
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(holds(last.error().message, "too many") ||
              holds(last.error().message, "remaining connection slots"))
      << last.error().message;
}

TEST_F(Connection, LogsInWithAPasswordByReference) {
  sql("create role with_password login password 'p w'");
  const std::string path = server().folder() + "/secret";
  std::ofstream(path) << "p w\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  settings_.access.user = "with_password";
  settings_.access.password = {SecretRef::Kind::file, path};
  EXPECT_NE(connect(), nullptr);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::ofstream(path) << "wrong";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  const auto wrong = client_->connect(settings_.access, 3s);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(holds(wrong.error().message, "password authentication failed"));
  EXPECT_FALSE(holds(wrong.error().message, "wrong\""));
  settings_.access.password = {SecretRef::Kind::env, "OUTCOMED_TEST_NOT_SET"};
  EXPECT_EQ(client_->connect(settings_.access, 3s).error().kind, ErrorKind::invalid);
  settings_.access.password = {};
  EXPECT_EQ(client_->connect(settings_.access, 3s).error().kind, ErrorKind::unauthorized);
  sql("drop role with_password");
}

TEST_F(Connection, HandsOverBytesOfADatabaseWithoutEncoding) {
  sql("create database bytes encoding 'SQL_ASCII' template template0");
  settings_.access.dbname = "bytes";
  auto connection = connect();
  ASSERT_NE(connection, nullptr);
  EXPECT_EQ(value(*connection, "select E'a\\xff'"), "a\xff");
  connection.reset();
  sql("drop database bytes with (force)");
}

}  // namespace
}  // namespace outcomed
