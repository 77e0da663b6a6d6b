// From a checked configuration to the parts of a running engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/engine/engine.h"
#include "daemon/plugins.h"

namespace outcomed {

// The plan with only the labels that the rules (or `extra`) use; those of neutral classes stay.
SignalPlan narrowed(const SignalPlan& offered, const std::vector<RuleConfig>& rules,
                    const std::vector<std::string>& extra = {});

struct QueuedReceiver {
  std::string outbox;
  std::shared_ptr<Receiver> receiver;
};

struct MirroredReceiver {
  std::string receiver;
  std::shared_ptr<Mirror> mirror;
};

struct Assembly {
  std::vector<SourceUnit> sources;
  std::vector<RuleSpec> rules;
  std::shared_ptr<const Announcer> announcer;
  std::vector<QueuedReceiver> queued;
  std::vector<MirroredReceiver> mirrors;
};

struct HttpClients {
  HttpClient& sources;
  HttpClient& receivers;
};

// Takes the detectors out of `config`. Errors name the source or receiver.
Result<Assembly> assemble(Config& config, HttpClients http, SecretReader& secrets,
                          const std::function<Timestamp()>& now);

// Only the sources and rules, every source replaced by one recording: `backtest --recording`.
Result<Assembly> assemble_replay(Config& config, const std::string& recording);

}  // namespace outcomed
