// The past of one signal for a report: out of --recording, or from the signal's own source.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "daemon/commands/options.h"
#include "daemon/net/curl_client.h"
#include "daemon/net/secret_reader.h"
#include "queries/source.h"

namespace outcomed {

// Where a function gives back a status, the command ends with it; why was said.
class SignalPast {
 public:
  // `plan` with the labels and the step that are wanted.
  SignalPast(SignalPlan plan, Shell& shell);

  // The recording of the option, else the plan's source.
  std::optional<ExitStatus> open(const Options& options, const Config& config);
  // What lies between the options `from_name` and --to, in whole steps. Without them a recording is
  // read whole; a live source needs a begin and ends now.
  std::optional<ExitStatus> take_range(const Options& options, const char* from_name);
  // All of it, in pieces and in order. Problems of the data are noted once each.
  using Take = std::function<void(const SignalBatch& batch, const std::vector<Labels>& cells)>;
  std::optional<ExitStatus> read(const Take& take);

  [[nodiscard]] TimeRange range() const { return range_; }

 private:
  ExitStatus say(const Error& error);

  SignalPlan plan_;
  Shell& shell_;
  FileSecretReader secrets_;
  CurlClient http_;
  std::shared_ptr<Source> source_;
  Duration delay_{};
  TimeRange range_{};
};

// The detector of the first rule of its kind over the signal that `fits`; null where there is none.
template <class Kind, class Fits>
const Kind* first_rule_of(const Config& config, const std::string& signal, Fits fits) {
  for (const RuleConfig& rule : config.rules) {
    const auto* detector = dynamic_cast<const Kind*>(rule.detector.get());
    if (detector != nullptr && rule.signal == signal && fits(*detector)) return detector;
  }
  return nullptr;
}

}  // namespace outcomed
