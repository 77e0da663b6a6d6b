#include "queries/postgres/settings.h"

namespace outcomed {
namespace {

constexpr Duration kShortestTimeout = 100ms;

}  // namespace

void PostgresSettings::visit(ParamVisitor& visitor) {
  access.visit(visitor);
  visitor.duration(
      "timeout", timeout,
      "Longest wait for one statement; the server is told to end it a little earlier.");
  visitor.duration("longest_request", longest_request,
                   "Rows are found by the begin of their request: every tick looks this far back.");
  visitor.duration("longest_sweep", longest_sweep,
                   "How far back a slower sweep looks, for requests that took longer.");
  visitor.duration("late_rows", late_rows,
                   "Rows that appear up to this long after `delay` are still counted, once.");
  visitor.count("max_rows", max_rows, {1, 1e9}, "Most rows that one statement may return.");
  visitor.text_list("allow_writable_role", allow_writable_role,
                    "Roles that may be used although they can write; others are refused.");

  if (timeout < kShortestTimeout) {
    visitor.problem("timeout", "no answer can come in so short a time", "10s is the default");
  }
  if (longest_request <= 0ms) {
    visitor.problem("longest_request", "must be longer than 0s", "15m is the default");
  }
  if (longest_sweep < longest_request) {
    visitor.problem("longest_sweep", "is shorter than longest_request", "2h is the default");
  }
  if (late_rows < 0ms) {
    visitor.problem("late_rows", "a time span can't be negative", "10m is the default");
  }
}

}  // namespace outcomed
