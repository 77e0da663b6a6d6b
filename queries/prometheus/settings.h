// Settings of a source of kind `prometheus`.
#pragma once

#include <cstdint>
#include <string>

#include "queries/base/http_client.h"
#include "queries/base/matcher.h"
#include "queries/base/params.h"
#include "queries/base/time.h"

namespace outcomed {

enum class BackfillWay { automatic, remote_read, export_lines, range };

struct PrometheusSettings {
  std::string
      url;  // Of the server, with its path prefix where it has one: what stands before /api.
  HttpAccess access;
  Duration timeout = 10s;
  Duration lookback = 5min;
  Matchers matchers;
  std::int64_t max_bytes = std::int64_t{256} << 20;
  bool accept_partial = false;
  std::string backfill = "auto";

  void visit(ParamVisitor& visitor);
  // `backfill` as a word of ours; automatic where the text is none of its values.
  [[nodiscard]] BackfillWay backfill_way() const;
};

}  // namespace outcomed
