// The plugins this build has, and how their settings become objects.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "alerts/receiver.h"
#include "daemon/config/catalogs.h"
#include "daemon/config/config.h"
#include "queries/base/http_client.h"
#include "queries/source.h"

namespace outcomed {

const Catalogs& catalogs();

// `http` and `secrets` must outlive the source.
Result<std::shared_ptr<Source>> make_source(const SourceConfig& config,
                                            std::vector<SignalPlan> plans, HttpClient& http,
                                            SecretReader& secrets);

// What a receiver's part is made of: a queue's sender, or mirrors, one for each peer.
using ReceiverPlugin =
    std::variant<std::shared_ptr<Receiver>, std::vector<std::shared_ptr<Mirror>>>;
Result<ReceiverPlugin> make_receiver(const ReceiverPart& part, HttpClient& http,
                                     SecretReader& secrets, std::function<Timestamp()> now);

}  // namespace outcomed
