// What `report absorption` and `verify` read: both sides of the gateway, hour by hour, from a
// recording or the signal's own source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/commands/options.h"
#include "detectors/absorption/hours.h"

namespace outcomed {

struct AbsorptionData {
  std::vector<AbsorptionRow> rows;                   // Of all models, or of --model alone.
  std::vector<std::string> models;                   // With any count; empty name: none.
  std::vector<std::vector<AbsorptionRow>> by_model;  // In the order of `models`.
  AbsorptionLimits limits;
  TimeRange range;
  Duration row{};  // Length of a row.
  std::string unit;
};

// The options that both commands have.
void add_absorption_options(Options& options);

// Reads [from, to): without `from` a recording is read whole. Nothing in `data` where the command
// ends with the status given back; the reason was printed.
std::optional<ExitStatus> read_absorption(const Options& options, const char* from, Shell& shell,
                                          std::optional<AbsorptionData>& data);

// "hour", or "span of 5m"; with its number in front.
std::string count_rows(std::int64_t count, Duration row);
// "12 (8.3 %)"; only the number where there is nothing to take a share of.
std::string with_share(std::int64_t k, std::int64_t n);
// "66 of 66 (100 %)"
std::string part_of(std::int64_t k, std::int64_t n);
// Sentences for what failed, one a line: time, model, and the detector's words.
std::vector<std::string> failing_sentences(const AbsorptionData& data);

}  // namespace outcomed
