// Settings of a source of kind `postgres`.
#pragma once

#include <string>
#include <vector>

#include "queries/base/params.h"
#include "queries/base/sql_client.h"
#include "queries/base/time.h"

namespace outcomed {

struct PostgresSettings {
  SqlAccess access;
  Duration timeout = 10s;
  Duration longest_request = 15min;
  Duration longest_sweep = 2h;
  Duration late_rows = 10min;
  std::int64_t max_rows = 5'000'000;
  std::vector<std::string> allow_writable_role;

  void visit(ParamVisitor& visitor);
};

}  // namespace outcomed
