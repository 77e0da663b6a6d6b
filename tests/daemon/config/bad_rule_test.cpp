// Rules that are wrong in a value or name what is not there, and the exact line that is told.
#include "tests/daemon/config/bad_config.h"

namespace outcomed {
namespace {

using testing::BadConfig;
using testing::problems_after_good_start;
using testing::test_name;

// One rule with one line that is wrong; {} marks nothing.
class BadRule : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadRule, IsRefusedWithTheExactLine) {
  const std::string rule = "rules:\n- name: a\n  kind: share\n  signal: requests\n  ";
  EXPECT_EQ(problems_after_good_start(rule + std::string(GetParam().text) + "\n"),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Values, BadRule,
    ::testing::Values(
        BadConfig{"ShareWithoutPercent", "above: 10",
                  "outcomed.yaml:7:10: rules[0].above: 10 is not a share; did you mean 10%?\n"},
        BadConfig{
            "ShareOfOne", "above: 1",
            "outcomed.yaml:7:10: rules[0].above: 1 is not a share; did you mean 1% or 100%?\n"},
        BadConfig{
            "ShareAboveAHundred", "above: 101%",
            "outcomed.yaml:7:10: rules[0].above: 101% is more than 100%; shares lie between 0% "
            "and 100%\n"},
        BadConfig{
            "ShareFarAboveAHundred", "above: 250",
            "outcomed.yaml:7:10: rules[0].above: 250 is not a share; shares lie between 0% and "
            "100%\n"},
        BadConfig{
            "NegativeShare", "above: -5%",
            "outcomed.yaml:7:10: rules[0].above: -5% is not a share; shares lie between 0% and "
            "100%\n"},
        BadConfig{
            "ShareWithABlank", "above: 10 %",
            "outcomed.yaml:7:10: rules[0].above: \"10 %\" is not a share; did you mean 10%?\n"},
        BadConfig{
            "ShareWithAComma", "above: \"0,1\"",
            "outcomed.yaml:7:10: rules[0].above: \"0,1\" is not a share; did you mean 0.1?\n"},
        BadConfig{
            "ShareInWords", "above: ten",
            "outcomed.yaml:7:10: rules[0].above: ten is not a share; write for example 10% or "
            "0.1\n"},
        BadConfig{
            "ShareWithAnExponent", "above: 1e-1",
            "outcomed.yaml:7:10: rules[0].above: 1e-1 is not a share; write for example 10% or "
            "0.1\n"},
        BadConfig{
            "ShareNaN", "above: .nan",
            "outcomed.yaml:7:10: rules[0].above: .nan is not a share; write for example 10% or "
            "0.1\n"},
        BadConfig{
            "UnreachableShare", "above: 100%",
            "outcomed.yaml:7:10: rules[0].above: a share is never above 100%: this can't fire; "
            "use a lower line\n"},
        BadConfig{
            "ShareMissing", "window: 1h",
            "outcomed.yaml:4:3: rules[0].above: exactly one of `above` and `below` is needed; "
            "write for example above: 10%\n"},
        BadConfig{"ShareTwice", "{above: 10%}",
                  "outcomed.yaml:7:3: not valid YAML: end of map not found; check the indentation "
                  "here and in the lines above\n"},
        BadConfig{
            "ResolveBelowThatNoShareReaches", "above: 10%\n  resolve_below: 0%",
            "outcomed.yaml:8:18: rules[0].resolve_below: a share is never below 0%: the alert "
            "could never end; use a higher line\n"},
        BadConfig{
            "ResolveAboveThatNoShareReaches", "below: 90%\n  resolve_above: 100%",
            "outcomed.yaml:8:18: rules[0].resolve_above: a share is never above 100%: the alert "
            "could never end; use a lower line\n"},
        BadConfig{"DurationWithoutUnit", "above: 10%\n  for: 90",
                  "outcomed.yaml:8:8: rules[0].for: \"90\" is not a duration; did you mean 90s?\n"},
        BadConfig{
            "DurationInFractions", "above: 10%\n  for: 1.5h",
            "outcomed.yaml:8:8: rules[0].for: \"1.5h\" is not a duration; units are y w d h m s "
            "ms, numbers are whole\n"},
        BadConfig{
            "DurationWithABlank", "above: 10%\n  for: 1h 30m",
            "outcomed.yaml:8:8: rules[0].for: \"1h 30m\" is not a duration; write whole numbers "
            "with units, for example 1h30m\n"},
        BadConfig{
            "DurationOutOfOrder", "above: 10%\n  for: 12h1d",
            "outcomed.yaml:8:8: rules[0].for: \"12h1d\" is not a duration; units go from large "
            "to small, each once: 1d12h\n"},
        BadConfig{"NegativeDuration", "above: 10%\n  for: -5m",
                  "outcomed.yaml:8:8: rules[0].for: \"-5m\" is not a duration; write whole numbers "
                  "with units, for example 1h30m\n"},
        BadConfig{
            "DurationInCapitals", "above: 10%\n  for: 5M",
            "outcomed.yaml:8:8: rules[0].for: \"5M\" is not a duration; units are y w d h m s "
            "ms, numbers are whole\n"},
        BadConfig{
            "EmptyDuration", "above: 10%\n  for: ''",
            "outcomed.yaml:8:8: rules[0].for: \"\" is not a duration; write for example 5m\n"},
        BadConfig{
            "SexagesimalDuration", "above: 10%\n  for: 22:30",
            "outcomed.yaml:8:8: rules[0].for: \"22:30\" is not a duration; units are y w d h m "
            "s ms, numbers are whole\n"},
        BadConfig{"EndlessDuration", "above: 10%\n  for: 200y",
                  "outcomed.yaml:8:8: rules[0].for: 200y is longer than a hundred years; write a "
                  "shorter one\n"},
        BadConfig{"ForLongerThanTheHistory", "above: 10%\n  for: 40d",
                  "outcomed.yaml:8:8: rules[0].for: for is longer than buckets are kept (35d); "
                  "shorten it, or raise store.retention.buckets\n"},
        BadConfig{"WindowLongerThanTheHistory", "above: 10%\n  window: 60d",
                  "outcomed.yaml:8:11: rules[0].window: looks back 61d, and buckets are kept 35d; "
                  "shorten it, or raise store.retention.buckets\n"},
        BadConfig{"WindowShorterThanAStep", "above: 10%\n  window: 30s",
                  "outcomed.yaml:8:11: rules[0].window: shorter than the signal's step of 1m; make "
                  "it at least one step\n"},
        BadConfig{
            "OctalCount", "above: 10%\n  min_requests: 010",
            "outcomed.yaml:8:17: rules[0].min_requests: 010 is not a plain number; did you mean "
            "10?\n"},
        BadConfig{"HexCount", "above: 10%\n  min_requests: 0x10",
                  "outcomed.yaml:8:17: rules[0].min_requests: 0x10 is not a whole number; write "
                  "digits only, such as 20\n"},
        BadConfig{
            "CountWithAnExponent", "above: 10%\n  min_requests: 1e3",
            "outcomed.yaml:8:17: rules[0].min_requests: 1e3 is not a whole number; write digits "
            "only, such as 20\n"},
        BadConfig{"CountWithUnderscores", "above: 10%\n  min_requests: 1_000",
                  "outcomed.yaml:8:17: rules[0].min_requests: 1_000 is not a whole number; did you "
                  "mean 1000?\n"},
        BadConfig{"CountWithAPoint", "above: 10%\n  min_requests: 20.0",
                  "outcomed.yaml:8:17: rules[0].min_requests: 20.0 is not a whole number; write "
                  "digits only, such as 20\n"},
        BadConfig{"CountInQuotes", "above: 10%\n  min_requests: \"20\"",
                  "outcomed.yaml:8:17: rules[0].min_requests: \"20\" is a text; write the number "
                  "without quotes\n"},
        BadConfig{"CountBelowItsBounds", "above: 10%\n  min_requests: 0",
                  "outcomed.yaml:8:17: rules[0].min_requests: 0 is too small; at least 1\n"},
        BadConfig{
            "CountAboveItsBounds", "above: 10%\n  min_requests: 2000000000000000",
            "outcomed.yaml:8:17: rules[0].min_requests: 2000000000000000 is too large; at most "
            "1000000000000000\n"},
        BadConfig{"CountThatOverflows", "above: 10%\n  min_requests: 99999999999999999999",
                  "outcomed.yaml:8:17: rules[0].min_requests: 99999999999999999999 is too large\n"},
        BadConfig{"OneLabelInsteadOfAList", "above: 10%\n  by: model",
                  "outcomed.yaml:8:7: rules[0].by: is a single value; write a list: [model]\n"},
        BadConfig{"UnknownLabel", "above: 10%\n  by: [modle]",
                  "outcomed.yaml:8:8: rules[0].by[0]: signal requests has no label modle; did you "
                  "mean model?\n"},
        BadConfig{
            "LabelThatIsNoName", "above: 10%\n  by: [model, \"a-b\"]",
            "outcomed.yaml:8:15: rules[0].by[1]: a-b is not a label name; use letters, digits "
            "and _, not starting with a digit or __\n"},
        BadConfig{"LabelTwice", "above: 10%\n  by: [model, team, model]",
                  "outcomed.yaml:8:21: rules[0].by[2]: model stands twice; remove one of them\n"},
        BadConfig{
            "MatcherOfAnUnknownLabel", "above: 10%\n  matchers: ['env=\"prod\"']",
            "outcomed.yaml:8:14: rules[0].matchers[0]: signal requests has no label env; labels "
            "here: model, team, team_alias, api_key_alias, hashed_api_key, error_class, "
            "exception_class, exception_status\n"},
        BadConfig{"MatcherInsteadOfAList", "above: 10%\n  matchers: model =~ \"a|b\"",
                  "outcomed.yaml:8:13: rules[0].matchers: is a single value; write a list: […]\n"},
        BadConfig{
            "MatcherInBraces", "above: 10%\n  matchers:\n  - {model=\"x\"}",
            "outcomed.yaml:9:5: rules[0].matchers[0]: is a mapping; write 'model=\"judge\"'\n"},
        BadConfig{
            "MatcherWithoutOperator", "above: 10%\n  matchers: [model]",
            "outcomed.yaml:8:14: rules[0].matchers[0]: \"model\": after the label name comes =, "
            "!=, =~ or !~\n"},
        BadConfig{"MatchersThatExcludeEachOther",
                  "above: 10%\n  matchers: ['model=\"a\"', 'model!=\"b\"', 'model=~\"b.*\"']",
                  "outcomed.yaml:8:41: rules[0].matchers[2]: nothing matches this and model=\"a\"; "
                  "remove one of them\n"},
        BadConfig{"MatchersOfTwoValues", "above: 10%\n  matchers: ['model=\"a\"', 'model=\"b\"']",
                  "outcomed.yaml:8:27: rules[0].matchers[1]: nothing matches this and model=\"a\"; "
                  "remove one of them\n"},
        BadConfig{
            "MatcherWithABrokenRegex", "above: 10%\n  matchers: ['model=~\"a(\"']",
            "outcomed.yaml:8:14: rules[0].matchers[0]: \"a(\": not a regular expression (RE2): "
            "missing ): a(\n"},
        BadConfig{
            "LabelNameWithADash", "above: 10%\n  labels: {cost-center: x}",
            "outcomed.yaml:8:12: rules[0].labels.cost-center: cost-center can't be a name here; "
            "use letters, digits and _, not starting with a digit or __\n"},
        BadConfig{"SeverityAmongLabels", "above: 10%\n  labels: {severity: page}",
                  "outcomed.yaml:8:12: rules[0].labels.severity: the label severity is set by "
                  "outcomed; set severity beside the line of the rule\n"},
        BadConfig{
            "LabelThatSplitsTheGroups", "above: 10%\n  by: [model]\n  labels: {model: x}",
            "outcomed.yaml:9:12: rules[0].labels.model: the label model is set by outcomed; use "
            "another name\n"},
        BadConfig{
            "AnnotationWithoutText", "above: 10%\n  annotations: {summary: }",
            "outcomed.yaml:8:17: rules[0].annotations.summary: has no value; remove the key, or "
            "write a text\n"},
        BadConfig{"MistypedSetting", "abov: 10%\n  below: 5%",
                  "outcomed.yaml:7:3: rules[0].abov: unknown key; did you mean above?\n"},
        BadConfig{"CamelCase", "above: 10%\n  keepFiringFor: 5m",
                  "outcomed.yaml:8:3: rules[0].keepFiringFor: unknown key; did you mean "
                  "keep_firing_for?\n"},
        BadConfig{"WordOfPrometheus", "above: 10%\n  alert: x",
                  "outcomed.yaml:8:3: rules[0].alert: unknown key; did you mean name?\n"},
        BadConfig{"MistypedSettingOfATier", "tiers: [{above: 5%, severty: page, severity: ticket}]",
                  "outcomed.yaml:7:23: rules[0].tiers[0].severty: unknown key; did you mean "
                  "severity?\n"},
        BadConfig{"WrongShareInATier",
                  "tiers:\n  - {above: 5%, severity: ticket}\n  - {above: 30, severity: page}",
                  "outcomed.yaml:9:13: rules[0].tiers[1].above: 30 is not a share; did you mean "
                  "30%?\n"},
        BadConfig{"TheWayBackOfTheOtherSide", "above: 10%\n  resolve_above: 5%",
                  "outcomed.yaml:8:18: rules[0].resolve_above: says nothing of a rule with "
                  "`above`; write resolve_below\n"},
        BadConfig{"ATierThatIsNoMapping", "tiers: [5%]",
                  "outcomed.yaml:7:11: rules[0].tiers[0]: is a single value; write a mapping of "
                  "settings\n"},
        BadConfig{"TwoTiersOfOneSeverity",
                  "tiers: [{above: 5%, severity: page}, {above: 9%, severity: page}]",
                  "outcomed.yaml:7:62: rules[0].tiers[1].severity: \"page\" is the severity of "
                  "another tier too; alerts are told apart by rule, group and severity\n"}),
    test_name);

class BadReference : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadReference, IsRefusedWithTheExactLine) {
  EXPECT_EQ(problems_after_good_start(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    References, BadReference,
    ::testing::Values(
        BadConfig{"UnknownSignal", "rules: [{name: a, kind: share, signal: reqests, above: 10%}]\n",
                  "outcomed.yaml:3:40: rules[0].signal: unknown signal reqests; did you mean "
                  "requests?\n"},
        BadConfig{"UnknownKind", "rules: [{name: a, kind: shar, signal: requests}]\n",
                  "outcomed.yaml:3:25: rules[0].kind: unknown kind shar; did you mean share?\n"},
        BadConfig{
            "LaterKind", "rules: [{name: a, kind: latency, signal: requests, above: 5%}]\n",
            "outcomed.yaml:3:25: rules[0].kind: kind latency isn't built in this version; kinds "
            "here: share, surge, baseline, scores, absorption, price\n"},
        BadConfig{"RuleWithoutAnything", "rules: [{}]\n",
                  "outcomed.yaml:3:9: rules[0].kind: is missing; name the kind of the rule\n"
                  "outcomed.yaml:3:9: rules[0].name: is missing; alerts are told apart by it\n"
                  "outcomed.yaml:3:9: rules[0].signal: is missing; name the signal it judges\n"},
        BadConfig{"RuleThatIsNoMapping", "rules: [gateway_failures]\n",
                  "outcomed.yaml:3:9: rules[0]: is a single value; write a mapping of settings\n"},
        BadConfig{"TwoRulesOfOneName",
                  "rules:\n"
                  "- {name: a, kind: share, signal: requests, above: 10%}\n"
                  "- {name: a, kind: share, signal: requests, above: 20%}\n",
                  "outcomed.yaml:5:10: rules[1].name: \"a\" is the name of another rule, at "
                  "outcomed.yaml:4:10; rename one of them\n"},
        BadConfig{"EmptyName", "rules: [{name: '', kind: share, signal: requests, above: 1%}]\n",
                  "outcomed.yaml:3:16: rules[0].name: is empty; alerts are told apart by it\n"},
        BadConfig{"SqlSignal",
                  "signals:\n  judge: {source: prom, step: 1d, time_zone: UTC, sql: select 1}\n",
                  "outcomed.yaml:4:56: signals.judge.sql: a source of kind prometheus isn't asked "
                  "in SQL; "
                  "name a source of kind postgres, or remove the setting\n"},
        BadConfig{
            "SignalOfAnUnknownSource", "signals: {a: {source: promm, failures: x, requests: y}}\n",
            "outcomed.yaml:3:23: signals.a.source: unknown source promm; did you mean prom?\n"},
        BadConfig{"SignalWithoutSource", "signals: {a: {failures: x, requests: y}}\n",
                  "outcomed.yaml:3:14: signals.a.source: is missing; name a source\n"},
        BadConfig{
            "SignalWithoutSelectors", "signals: {a: {source: prom}}\n",
            "outcomed.yaml:3:14: signals.a.failures: is missing; write selectors of counters: "
            "failures: 'errors_total', requests: 'requests_total'\n"},
        BadConfig{
            "SignalWithHalfOfItsSelectors", "signals: {a: {source: prom, failures: x}}\n",
            "outcomed.yaml:3:14: signals.a.requests: is missing; failures and requests belong "
            "together\n"},
        BadConfig{
            "SelectorWithAFunction",
            "signals: {a: {source: prom, failures: 'rate(x[5m])', requests: y}}\n",
            "outcomed.yaml:3:39: signals.a.failures: \"rate(x[5m])\": only a plain selector is "
            "allowed here (no functions, ranges or offsets): counters are read raw and the "
            "arithmetic is done here\n"},
        BadConfig{
            "LabelInBothLists",
            "signals: {a: {source: prom, failures: x, requests: y, labels: [m], "
            "failure_labels: [c, m]}}\n",
            "outcomed.yaml:3:88: signals.a.failure_labels[1]: m stands in labels too; keep it "
            "in one of the two lists\n"},
        BadConfig{"SignalNamedAsThePresets",
                  "signals: {requests: {source: prom, failures: x, requests: y}}\n",
                  "outcomed.yaml:3:11: signals.requests: the litellm preset has a signal of this "
                  "name; choose another name\n"},
        BadConfig{"ZeroStep", "signals: {a: {source: prom, failures: x, requests: y, step: 0}}\n",
                  "outcomed.yaml:3:61: signals.a.step: 0s is no step; between 1s and 31d\n"},
        BadConfig{"TwoStepsOfOneSource",
                  "signals: {a: {source: prom, failures: x, requests: y, step: 5m}}\n",
                  "outcomed.yaml:3:61: signals.a.step: 5m differs from the step of signal requests "
                  "(1m) of the same source; use one step, or name the source twice\n"},
        BadConfig{"RouteToNobody",
                  "receivers: [{name: oncall}]\nroute: {receiver: on-call, routes: [{receiver: "
                  "pager}]}\n",
                  "outcomed.yaml:4:19: route.receiver: unknown receiver on-call; did you mean "
                  "oncall?\n"
                  "outcomed.yaml:4:48: route.routes[0].receiver: unknown receiver pager; receivers "
                  "here: oncall\n"},
        BadConfig{"RouteWithoutReceivers", "route: {receiver: oncall}\n",
                  "outcomed.yaml:3:19: route.receiver: unknown receiver oncall; there are no "
                  "receivers here\n"},
        BadConfig{
            "ReceiversWithoutRoute", "receivers: [{name: oncall}, {name: hooks}]\n",
            "outcomed.yaml:3:12: receivers: no route says which of them is told; write route: "
            "{receiver: oncall}\n"},
        BadConfig{
            "RootWithMatchers",
            "receivers: [{name: a}]\nroute: {receiver: a, matchers: ['x=\"y\"'], continue: "
            "true}\n",
            "outcomed.yaml:4:32: route.matchers: the root route takes every alert; move them to "
            "a child route\n"
            "outcomed.yaml:4:53: route.continue: the root route has no siblings; remove it\n"},
        BadConfig{"WordsForTrue",
                  "receivers: [{name: a}]\nroute: {receiver: a, routes: [{continue: yes}]}\n",
                  "outcomed.yaml:4:42: route.routes[0].continue: yes is not true or false; did you "
                  "mean true?\n"},
        BadConfig{
            "QuotedTrue",
            "receivers: [{name: a}]\nroute: {receiver: a, routes: [{continue: \"true\"}]}\n",
            "outcomed.yaml:4:42: route.routes[0].continue: \"true\" is not true or false; did "
            "you mean true?\n"},
        BadConfig{"WaitsOfRoutesComeLater",
                  "receivers: [{name: a}]\nroute: {receiver: a, group_wait: "
                  "30s}\n",
                  "outcomed.yaml:4:34: route.group_wait: isn't read by this version; remove it\n"},
        BadConfig{
            "OldMatchersOfAlertmanager",
            "receivers: [{name: a}]\nroute: {receiver: a, routes: [{match: {a: b}}]}\n",
            "outcomed.yaml:4:32: route.routes[0].match: unknown key; did you mean matchers?\n"},
        BadConfig{
            "AllLabelsAndOneMore",
            "receivers: [{name: a}]\nroute: {receiver: a, group_by: ['...', model]}\n",
            "outcomed.yaml:4:32: route.group_by: \"...\" means all labels; write it alone, or "
            "name labels\n"},
        BadConfig{"ReceiverKindOfAlertmanager",
                  "receivers: [{name: a, webhook_configs: []}]\nroute: {receiver: a}\n",
                  "outcomed.yaml:3:23: receivers[0].webhook_configs: unknown kind webhook_configs; "
                  "did you mean webhook?\n"},
        BadConfig{"LaterReceiver", "receivers: [{name: a, slack: {}}]\nroute: {receiver: a}\n",
                  "outcomed.yaml:3:23: receivers[0].slack: kind slack isn't built in this version; "
                  "kinds here: alertmanager, webhook\n"},
        BadConfig{"TwoReceiversOfOneName",
                  "receivers: [{name: a}, {name: a}]\nroute: {receiver: a}\n",
                  "outcomed.yaml:3:31: receivers[1].name: \"a\" is the name of another receiver; "
                  "rename one of them\n"},
        BadConfig{"LiteralSecret",
                  "receivers: [{name: a, webhook: {url: \"https://h.example/x\", hmac_secret: "
                  "hunter2}}]\nroute: {receiver: a}\n",
                  "outcomed.yaml:3:74: receivers[0].webhook.hmac_secret: a secret must be a "
                  "reference: file:/path, env:NAME or cred:NAME\n"},
        BadConfig{
            "CredentialsInAUrl",
            "receivers: [{name: a, webhook: {url: \"https://bob:hunter2@h.example/x\"}}]\n"
            "route: {receiver: a}\n",
            "outcomed.yaml:3:38: receivers[0].webhook.url: the URL holds credentials; take them "
            "out and refer to them beside the URL\n"},
        BadConfig{
            "SchemeThatIsNoWeb",
            "receivers: [{name: a, webhook: {url: \"file:///etc/passwd\"}}]\nroute: {receiver: "
            "a}\n",
            "outcomed.yaml:3:38: receivers[0].webhook.url: not a URL; it must start with http:// "
            "or https://\n"},
        BadConfig{
            "HeaderInjection",
            "receivers: [{name: a, webhook: {url: \"https://h.example/\", headers: {X-A: "
            "\"b\\r\\nX-B: c\"}}}]\nroute: {receiver: a}\n",
            "outcomed.yaml:3:70: receivers[0].webhook.headers.X-A: a header's value is one line "
            "of ASCII; remove other characters\n"},
        BadConfig{
            "HeaderWithACredential",
            "receivers: [{name: a, webhook: {url: \"https://h.example/\", headers: "
            "{Authorization: Bearer hunter2}}}]\nroute: {receiver: a}\n",
            "outcomed.yaml:3:70: receivers[0].webhook.headers.Authorization: a secret must be a "
            "reference; write file:/path, env:NAME or cred:NAME\n"},
        BadConfig{
            "ListenWithoutPort", "http: {listen: 127.0.0.1}\n",
            "outcomed.yaml:3:16: http.listen: 127.0.0.1 is not an address to listen on; write "
            "host:port, such as 127.0.0.1:9469\n"},
        BadConfig{
            "RetentionOfNothing", "store: {retention: {buckets: 0}}\n",
            "outcomed.yaml:3:30: store.retention.buckets: too short to be of use; at least 1h\n"}),
    test_name);

}  // namespace
}  // namespace outcomed
