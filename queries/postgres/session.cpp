#include "queries/postgres/session.h"

#include <fmt/core.h>

#include <algorithm>

namespace outcomed {
namespace {

// Who we are, and one table that we could change.
constexpr std::string_view kRole = R"(
select r.rolname, r.rolsuper, r.rolcreaterole, pg_is_in_recovery(),
       (select n.nspname || '.' || c.relname
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'p', 'v', 'm', 'f')
           and n.nspname not in ('pg_catalog', 'information_schema')
           and n.nspname not like 'pg\_toast%' and n.nspname not like 'pg\_temp%'
           and has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
         limit 1)
  from pg_roles r where r.rolname = current_user)";

bool yes(const SqlValue& value) { return value == "t"; }

}  // namespace

std::string PostgresSession::role_fault(SqlRow row) const {
  const std::string role(row[0].value_or(""));
  const auto& allowed = settings_.allow_writable_role;
  if (std::ranges::find(allowed, role) != allowed.end()) return {};
  std::string what;
  if (yes(row[1])) {
    what = "is a superuser";
  } else if (yes(row[2])) {
    what = "may make roles";
  } else if (row[4]) {
    what = fmt::format("can write to {}", *row[4]);
  } else {
    return {};
  }
  return fmt::format(
      "role {0} {1}: use one that can only read (CREATE ROLE … LOGIN; GRANT SELECT ON … TO …), or "
      "say allow_writable_role: [{0}]",
      role, what);
}

Status PostgresSession::check_role() {
  SqlQuery query;
  query.text = kRole;
  query.timeout = settings_.timeout;
  std::string fault;
  bool standby = false;
  query.on_row = [&](SqlRow row) {
    fault = role_fault(row);
    standby = yes(row[3]);
    return ok();
  };
  if (Status status = connection_->query(query); !status) return status;
  if (!fault.empty()) return Error{ErrorKind::rejected, std::move(fault)};
  facts_.clear();
  if (standby) facts_.emplace_back("the rows come from a standby, which may lag behind");
  return ok();
}

Status PostgresSession::open() {
  if (connection_ != nullptr && connection_->usable()) return ok();
  auto made = client_.connect(settings_.access, settings_.timeout);
  if (!made) return std::move(made).error();
  connection_ = *std::move(made);
  Status status = check_role();
  if (!status) connection_.reset();
  return status;
}

Status PostgresSession::query(SqlQuery query, const std::function<void()>& restart) {
  query.timeout = settings_.timeout;
  query.max_rows = settings_.max_rows;
  for (int left = 1;; --left) {
    if (Status status = open(); !status) return status;
    if (restart) restart();
    Status status = connection_->query(query);
    const bool again = !status && left > 0 && status.error().kind == ErrorKind::unavailable &&
                       !connection_->usable();
    if (!again) return status;
  }
}

}  // namespace outcomed
