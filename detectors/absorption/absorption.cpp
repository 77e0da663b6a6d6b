#include "detectors/absorption/absorption.h"

#include <fmt/core.h>

#include <utility>

#include "detectors/absorption/fold.h"
#include "detectors/window_setting.h"
#include "queries/failure_side.h"

namespace outcomed {
namespace {

void check_lines(ParamVisitor& visitor, const AbsorptionParams& params) {
  if (params.provider_failures.value_or(0) <= 0) {
    visitor.problem("provider_failures", "every provider would be called failing",
                    "use a line above 0%");
  }
  if (params.consumer_failures.value_or(0) >= 1) {
    visitor.problem("consumer_failures", "a share is never above 100%: this can't fire",
                    "use a lower line");
  }
}

}  // namespace

void AbsorptionParams::visit(ParamVisitor& visitor, const SignalWords& words) {
  visitor.duration("window", window, "Both sides are counted over this long.");
  visitor.share("provider_failures", provider_failures,
                "The provider fails from this share of its attempts on (5xx and timeouts).");
  visitor.share(
      "consumer_failures", consumer_failures,
      "Consumers fail above this share of their requests, where chance can't explain it.");
  visitor.count("min_provider_failures", min_provider_failures, {1, 1e15},
                "Fewer failed attempts in the window are no failing provider.");
  visitor.count("min_consumer_failures", min_consumer_failures, {1, 1e15},
                "Fewer failed requests in the window are no failing consumers.");
  visitor.count("min_requests", min_requests, {1, 1e15},
                "With fewer requests in the window nobody can say that consumers are well.");
  visitor.text_list("breached_by", breached_by,
                    "Verdicts that breach: leaking, rejected, self_inflicted, absorbed.");
  visitor.duration("for", hold, "Breached this long before it fires.");
  visitor.text("severity", severity, "Severity of the alert: page, ticket or a word of yours.");
  check_window(visitor, window, words.step);
  check_lines(visitor, *this);
  if (breached_by.empty()) {
    visitor.problem("breached_by", "without a verdict this can't fire",
                    "name one of leaking, rejected, self_inflicted, absorbed");
  }
  for (const std::string& word : breached_by) {
    if (parse_absorption_outcome(word)) continue;
    visitor.problem("breached_by", fmt::format("\"{}\" is no verdict that can breach", word),
                    "there are leaking, rejected, self_inflicted, absorbed");
  }
}

AbsorptionDetector::AbsorptionDetector(AbsorptionParams params, SignalWords words)
    : params_(std::move(params)), words_(std::move(words)) {
  limits_ = {params_.provider_failures.value_or(limits_.provider_failures),
             params_.consumer_failures.value_or(limits_.consumer_failures),
             params_.min_provider_failures, params_.min_consumer_failures, params_.min_requests};
  tiers_.push_back({params_.severity, params_.hold, limits_.consumer_failures});
  for (const std::string& word : params_.breached_by) {
    const auto outcome = parse_absorption_outcome(word);
    if (outcome) breaching_[static_cast<std::size_t>(*outcome)] = true;
  }
}

std::unique_ptr<Fold> AbsorptionDetector::start(const Labels& group) const {
  return std::make_unique<AbsorptionFold>(*this, group);
}

std::vector<std::string> AbsorptionDetector::member_labels() const {
  return {std::string(failure_side::kLabel)};
}

}  // namespace outcomed
