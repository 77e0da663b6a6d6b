// The one connection of a source: made when needed, refused when its role can write, made anew once
// when it turns out to be dead.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "queries/base/sql_client.h"
#include "queries/postgres/settings.h"

namespace outcomed {

class PostgresSession {
 public:
  // `client` must outlive the session.
  PostgresSession(const PostgresSettings& settings, SqlClient& client)
      : settings_(settings), client_(client) {}

  // Runs a statement with the source's limits. A connection that broke (restart, failover,
  // pg_terminate_backend) is replaced and the statement run once more: `restart`, where there is
  // one, is called before each run. A server that can't be reached at all is asked once.
  Status query(SqlQuery query, const std::function<void()>& restart = {});

  // What was found out of the server when the present connection was made.
  [[nodiscard]] const std::vector<std::string>& facts() const { return facts_; }

 private:
  Status open();
  Status check_role();
  // What is wrong with the role; empty where nothing is.
  [[nodiscard]] std::string role_fault(SqlRow row) const;

  const PostgresSettings settings_;
  SqlClient& client_;
  std::unique_ptr<SqlConnection> connection_;
  std::vector<std::string> facts_;
};

}  // namespace outcomed
