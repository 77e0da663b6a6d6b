// From an episode to the words of a message. Nothing here is a template: text from labels is only
// ever copied, so it can't act.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alerts/message.h"
#include "alerts/routing.h"

namespace outcomed {

// "model_failures: error_class=router_refusal, model=judge (page)": rule, group, severity.
std::string title_of(const AlertKey& key);

// What routes and receivers match on, and the alert's identity at the receiver: alertname (the
// rule), severity, the group's labels, the rule's own. Of one name, the first of these wins; a
// group label named alertname or severity becomes exported_alertname, exported_severity, as
// Prometheus does it, since the group must not vanish from the identity. Names are valid label
// names.
Labels labels_of(const AlertKey& key, const Labels& rule_labels);

// annotations: summary (the title), description (the sentence; of a resolved alert what became of
// it), facts (`name: value` lines), episode, and the rule's own ones. A rule's own `summary`
// replaces ours; its `description` follows our sentence, which says the numbers.
// `generator_url` is kept if it is an http(s) URL. Long values are cut on character borders at
// 8 KiB; a cut label value ends in a hash of the whole, so two alerts never become one.
AlertMessage render(const Episode& episode, const Labels& rule_annotations,
                    std::string_view generator_url);

// What the routing tree matches: the labels of the message, and `rule` as a second name of
// alertname where no label has that name.
Labels routing_labels_of(const Labels& message_labels);

// The same for every attempt, restart and reload, and another for each news: a hash of the receiver
// and of every alert's episode and status, in any order. 32 hex digits.
std::string idempotency_key(const Message& message);

// One notification; fills the idempotency key.
Message make_message(const RouteMatch& route, std::vector<AlertMessage> alerts,
                     std::string_view external_url);

}  // namespace outcomed
