// Both sides hour by hour: what a reviewer reads and what a fix is verified by. Pure: batches in,
// rows out; how the batches were cut does not matter.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "detectors/absorption/outcome.h"
#include "queries/source.h"

namespace outcomed {

// One hour (or another span) of one group, or of all.
struct AbsorptionSpan {
  Timestamp start;
  Duration length{};   // As far as it was asked for.
  Duration unknown{};  // Of it: steps without complete data. Nothing of them is counted.
  SideCounts counts;
};

// What is said of a span. Failures that were seen are said even where some steps were not; that
// consumers were well is said only of a span that was seen whole.
enum class SpanVerdict : std::uint8_t {
  healthy,
  too_few,
  absorbed,
  leaking,
  rejected,
  self_inflicted,
  partial,  // Nothing bad was seen, but some steps were not seen.
  no_data,  // No step was seen.
};
std::string_view to_string(SpanVerdict verdict);

struct AbsorptionPart {
  Labels group;
  SideCounts counts;
  AbsorptionJudgement judgement;
};

struct AbsorptionRow {
  AbsorptionSpan span;
  // Of the groups that fail the one with most failed requests decides; of the whole only where no
  // group does. The provider fails where it does for the whole or for a group.
  SpanVerdict verdict = SpanVerdict::healthy;
  bool provider_fails = false;
  std::vector<AbsorptionPart> parts;  // Groups with any count, by labels.
};

struct AbsorptionTotals {
  std::int64_t hours = 0;
  std::int64_t unknown_hours = 0;  // partial or no_data.
  std::int64_t provider_failure_hours = 0;
  std::int64_t absorbed_hours = 0;
  std::int64_t leaking_hours = 0;
  std::int64_t rejected_hours = 0;
  std::int64_t self_inflicted_hours = 0;
  std::int64_t failure_free_hours = 0;  // Seen whole, with requests, of which none failed.
  std::int64_t failure_free_provider_failure_hours = 0;
  Duration unknown{};
  SideCounts counts;
  // Of the groups for which the provider failed, in the hours in which it did.
  SideCounts under_failure;
};

class AbsorptionHours {
 public:
  // `length` of a row; a whole number of the batches' steps.
  AbsorptionHours(Duration length, AbsorptionLimits limits);

  // A batch of a signal with the label `side`; the other labels of its cells are the groups. In
  // time order.
  void add(const SignalBatch& batch, const std::vector<Labels>& cells);

  [[nodiscard]] std::vector<AbsorptionRow> rows() const;
  // The rows of one group alone; for each span that was asked for.
  [[nodiscard]] std::vector<AbsorptionRow> rows(const Labels& group) const;
  [[nodiscard]] std::vector<Labels> groups() const;  // By labels.

 private:
  struct Hour {
    AbsorptionSpan span;
    std::map<std::uint32_t, SideCounts> groups;
  };
  [[nodiscard]] AbsorptionRow judged(const Hour& hour) const;

  Duration length_;
  AbsorptionLimits limits_;
  std::map<Timestamp, Hour> hours_;
  std::vector<Labels> groups_;
  std::vector<Attribution> attributions_;  // By group.
  std::unordered_map<Labels, std::uint32_t, LabelsHash> index_;
};

AbsorptionTotals totals_of(const std::vector<AbsorptionRow>& rows);

}  // namespace outcomed
