#include "daemon/gateway/rule_list.h"

#include <algorithm>
#include <array>

namespace outcomed {
namespace {

constexpr FindingLevel kError = FindingLevel::error;
constexpr FindingLevel kWarning = FindingLevel::warning;
constexpr FindingLevel kNote = FindingLevel::note;

constexpr std::array kRules = {
    GatewayRule{"cooldown-too-long", kError, "A cooldown is short.",
                "While a deployment cools down it serves nobody, although the provider may have "
                "answered again after a second."},
    GatewayRule{"cooldown-too-soon", kError, "A cooldown needs several errors.",
                "A single slow answer or a passing 500 must not take a deployment away from all "
                "clients."},
    GatewayRule{"cooldown-class-too-soon", kError,
                "A cooldown needs several errors, whatever their class.",
                "A limit for one class of errors counts instead of the general one."},
    GatewayRule{"cooldown-default-rule", kNote,
                "The number of errors is stated for 429, 401 and 404 too.",
                "Without a policy by class the gateway's own rule cools on the first such error."},
    GatewayRule{"cooldown-single-deployment", kError,
                "The only deployment of a group is not cooled down.",
                "A group whose only deployment cools down answers every request with 429 for the "
                "length of the cooldown, while the provider may be fine."},
    GatewayRule{"retry-rate-limit", kError, "A 429 of the provider is tried again.",
                "A rate limit passes within seconds; without a retry every one reaches a client."},
    GatewayRule{"retry-pause", kWarning, "There is a pause before a retry.",
                "Retries without a pause meet the same rate limit and use it up further."},
    GatewayRule{"private-fallback", kError, "A private group has no fallbacks.",
                "When the group fails, its prompts are sent to the fallback."},
    GatewayRule{"private-default-fallback", kError,
                "Default fallbacks don't reach a private group.",
                "Default fallbacks hold for every group without an entry of its own."},
    GatewayRule{"private-context-window-fallback", kError,
                "A private group has no context-window fallbacks.",
                "A prompt that is too long for the group is sent to the fallback."},
    GatewayRule{"private-content-policy-fallback", kError,
                "A private group has no content-policy fallbacks.",
                "A prompt that the model refuses is sent to the fallback."},
    GatewayRule{"private-alias", kError, "A private group has no alias.",
                "Who asks for one name is served by another, without a word."},
    GatewayRule{"private-address", kError,
                "Every deployment of a private group is at a private address.",
                "Requests are shared out among all deployments of one model_name."},
    GatewayRule{"private-client-fallback", kNote,
                "A client can name fallbacks itself; no setting of this file forbids it.",
                "\"fallbacks\" in a request's body is obeyed whatever the configuration says."},
    GatewayRule{"private-wildcard", kNote, "A private name that doesn't exist is served by nobody.",
                "A wildcard deployment takes every name that no other deployment has."},
    GatewayRule{"health-check-billed", kError,
                "Background health checks don't call deployments that cost money.",
                "Each check is a completion that the provider bills; older versions of the gateway "
                "show it in no metric and no spend row."},
    GatewayRule{"price-outside-table", kError, "Prices are those that the provider publishes.",
                "Budgets, limits and bills are made from these numbers."},
    GatewayRule{"price-differs", kError, "One model has one price under all its names.",
                "The same use costs one team more than the other, and sums are wrong."},
    GatewayRule{"price-class-missing", kWarning, "A model's own prices name every token class.",
                "Versions of the gateway book a class without a price differently: for nothing, or "
                "in full."},
    GatewayRule{"reserve-shared", kError,
                "A fallback doesn't share key, account or provider with its primary.",
                "What takes the primary down takes the reserve down in the same minute."},
    GatewayRule{"reserve-missing", kError, "A fallback exists.",
                "A fallback that no deployment answers for is no reserve."},
    GatewayRule{"quota-in-group", kWarning,
                "A deployment with a daily quota doesn't share a group with others.",
                "Once the quota is used up the deployment fails its share of requests for the rest "
                "of the day."},
    GatewayRule{"file-duplicate-key", kWarning, "A key stands once.",
                "The gateway takes the last one without a word."},
    GatewayRule{"file-unread-setting", kWarning, "What is written is in force.",
                "The file says one thing, the gateway does another."},
    GatewayRule{"file-unknown-value", kNote, "What is judged is in the file.",
                "Values from the environment can't be seen here."},
    GatewayRule{"file-database", kNote, "What is judged is in the file.",
                "Deployments, fallbacks and settings kept in the database are not in the file."},
};

}  // namespace

std::span<const GatewayRule> rule_list() { return kRules; }

const GatewayRule* find_rule(std::string_view id) {
  const auto found = std::ranges::find(kRules, id, &GatewayRule::id);
  return found == kRules.end() ? nullptr : &*found;
}

}  // namespace outcomed
