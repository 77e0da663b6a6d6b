// Files and sections that are wrong, and the exact line that is told.
#include "tests/daemon/config/bad_config.h"

namespace outcomed {
namespace {

using testing::BadConfig;
using testing::load_text;
using testing::problems_after_good_start;
using testing::test_name;

class BadYaml : public ::testing::TestWithParam<BadConfig> {};

// Whole files that can't be read, or not all of them.
TEST_P(BadYaml, IsRefusedWithTheExactLine) {
  EXPECT_EQ(to_text(load_text(GetParam().text).problems), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadYaml,
    ::testing::Values(
        BadConfig{"SecondDocument", "rules: []\n---\nrules: []\n",
                  "outcomed.yaml:2:1: a second document starts here; keep one document in the "
                  "file\n"},
        BadConfig{"SecondDocumentAfterDots", "rules: []\n...\nstore: {}\n",
                  "outcomed.yaml:3:1: a second document starts here; keep one document in the "
                  "file\n"},
        BadConfig{"Anchors", "sources: &s {}\nrules: *s\n",
                  "outcomed.yaml:1:10: anchors (&name) are not supported; write the value out "
                  "where it is needed\n"
                  "outcomed.yaml:2:8: aliases (*name) are not supported; write the value out\n"},
        BadConfig{"AliasOfNothing", "rules: *nothing\n",
                  "outcomed.yaml:1:8: aliases (*name) are not supported; write the value out, or "
                  "quote the text\n"},
        BadConfig{"Tags", "rules: !!seq []\nstore: !custom {sqlite: !!str x}\n",
                  "outcomed.yaml:1:8: tags (!name) are not supported; remove the tag\n"
                  "outcomed.yaml:2:8: tags (!name) are not supported; remove the tag\n"
                  "outcomed.yaml:2:25: tags (!name) are not supported; remove the tag\n"},
        BadConfig{"MergeKey", "store:\n  <<: {sqlite: /x}\n",
                  "outcomed.yaml:2:3: merge keys (<<) are not supported; write the settings out\n"},
        BadConfig{"DirectiveThatWouldSwallowALine", "rules: []\n%b: 2\nstore: {}\n",
                  "outcomed.yaml:2:1: a line can't begin with %; quote the text, or remove the "
                  "directive\n"},
        BadConfig{"TabIndents", "store:\n\tsqlite: /x\n",
                  "outcomed.yaml:2:1: a tab can't indent; indent with spaces\n"},
        BadConfig{"TabIndentsAListItem", "rules:\n \t- name: x\n",
                  "outcomed.yaml:2:2: a tab can't indent; indent with spaces\n"},
        BadConfig{"UnclosedQuoteAtTheEndOfAHalfWrittenFile", "store: {}\nhttp:\n  listen: 'x\n",
                  "outcomed.yaml:3:11: the quote that starts here isn't closed; add the closing "
                  "quote\n"},
        BadConfig{"UnclosedList", "rules: [1, 2\n",
                  "outcomed.yaml:2:1: not valid YAML: end of sequence flow not found; a [ or { is "
                  "open since "
                  "1:8\n"},
        BadConfig{
            "ColonInAText", "http:\n  listen: a: b\n",
            "outcomed.yaml:2:12: not valid YAML: illegal map value; check the indentation, and "
            "quote texts that hold \": \"\n"},
        BadConfig{"WrongIndentation", "store:\n   sqlite: /x\n  retention: {}\n",
                  "outcomed.yaml:3:3: not valid YAML: end of map not found; check the indentation "
                  "here and in the lines above\n"},
        BadConfig{
            "AtSign", "store: {sqlite: @x}\n",
            "outcomed.yaml:1:17: not valid YAML: unknown token; quote texts that start with @, "
            "` or %\n"},
        BadConfig{
            "UnknownEscape", "store: {sqlite: \"C:\\d\"}\n",
            "outcomed.yaml:1:20: not valid YAML: unknown escape character: d; in double quotes "
            "write \\\\ for a backslash, or use single quotes\n"},
        BadConfig{
            "TemplateWithoutQuotes", "store: {sqlite: {{ path }}}\n",
            "outcomed.yaml:1:18: a key must be a plain text; quote texts that start with { or "
            "[\n"},
        BadConfig{"KeyThatIsNull", "null: 1\n",
                  "outcomed.yaml:1:1: a key is missing; write the key, in quotes if it is null or "
                  "~\n"},
        BadConfig{"NotUtf8", "store: {sqlite: \"/x\xC0\xAF\"}\n",
                  "outcomed.yaml:1:20: the file is not UTF-8 text; save it as UTF-8\n"},
        BadConfig{"Nul", std::string_view("rules: []\n\0\n", 12),
                  "outcomed.yaml:2:1: the file holds a NUL character; save it as UTF-8 text\n"},
        BadConfig{"Utf16", std::string_view("\xFF\xFEr\0u\0", 6),
                  "outcomed.yaml:1:1: the file is not UTF-8 text; save it as UTF-8\n"},
        BadConfig{"ControlCharacter", "rules: []\x1b\n",
                  "outcomed.yaml:1:10: control character U+001B; remove it\n"},
        BadConfig{"C1Control",
                  "store: {sqlite: \"/\xC2\x9B"
                  "31m\"}\n",
                  "outcomed.yaml:1:19: control character U+009B; remove it\n"},
        BadConfig{"EscapedNul", "store: {sqlite: \"/x\\0\"}\n",
                  "outcomed.yaml:1:17: the text holds a control character; remove it\n"},
        BadConfig{"AListInsteadOfSections", "- rules\n",
                  "outcomed.yaml:1:1: the file is a list; write sections such as sources:\n"},
        BadConfig{
            "AWordInsteadOfSections", "sources:prom\n",
            "outcomed.yaml:1:1: the file is a single value; write sections such as sources:\n"},
        BadConfig{
            "Empty", "",
            "outcomed.yaml:1:1: signals: there are none; write presets: [{litellm: {metrics: "
            "…}}], or signals: of your own\n"
            "outcomed.yaml:1:1: sources: is missing; name at least one source: sources: {prom: "
            "{kind: prometheus, url: …}}\n"},
        BadConfig{
            "UnknownEncodingOfColumns",
            "sources: {ö: {kind: prometheus, url: \"http://p\"}}\nsignals: {}\n",
            "outcomed.yaml:1:11: sources[\"ö\"]: \"ö\" can't be a name; use letters, digits and "
            "_ - .\n"}),
    test_name);

class BadSection : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadSection, IsRefusedWithTheExactLine) {
  EXPECT_EQ(problems_after_good_start(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, BadSection,
    ::testing::Values(
        BadConfig{"DuplicateSection", "rules: []\nrules:\n- name: x\n",
                  "outcomed.yaml:4:1: rules: the key stands here again; it is already in line 3; "
                  "remove one of them\n"},
        BadConfig{
            "DuplicateKeyInsideAFlowMap", "store: {sqlite: /a, sqlite: /b}\n",
            "outcomed.yaml:3:21: store.sqlite: the key stands here again; it is already in line 3; "
            "remove one of them\n"},
        BadConfig{"UnknownSection", "rule: []\n",
                  "outcomed.yaml:3:1: rule: unknown key; did you mean rules?\n"},
        BadConfig{"UnknownSectionFarFromEverything", "grafana: {}\n",
                  "outcomed.yaml:3:1: grafana: unknown key; known here: sources, prices, presets, "
                  "signals, store, http, heartbeat, rules, receivers, route\n"},
        BadConfig{
            "LaterSection", "templates: []\ninhibit_rules: []\n",
            "outcomed.yaml:3:1: templates: isn't read by this version; remove the section\n"
            "outcomed.yaml:4:1: inhibit_rules: isn't read by this version; remove the section\n"},
        BadConfig{"UnknownStoreKey", "store: {sqlit: /x}\n",
                  "outcomed.yaml:3:9: store.sqlit: unknown key; did you mean sqlite?\n"},
        BadConfig{
            "UnknownNestedKey", "store: {retention: {bucket: 1d}}\n",
            "outcomed.yaml:3:21: store.retention.bucket: unknown key; did you mean buckets?\n"},
        BadConfig{"KeyWithALineBreak", "http: {\"li\\nsten\": x}\n",
                  "outcomed.yaml:3:8: http[\"li\\nsten\"]: unknown key; did you mean listen?\n"},
        BadConfig{"NullSection", "store:\n",
                  "outcomed.yaml:3:1: store: has no value; remove the key, or write a mapping of "
                  "settings\n"},
        BadConfig{
            "NullRules", "rules:\n",
            "outcomed.yaml:3:1: rules: has no value; remove the key to use the built-in rules, "
            "or write [] for none\n"},
        BadConfig{
            "NullValue", "http: {listen: ~}\n",
            "outcomed.yaml:3:8: http.listen: has no value; remove the key, or write a text\n"},
        BadConfig{"ListForAMapping", "store: [x]\n",
                  "outcomed.yaml:3:8: store: is a list; write a mapping of settings\n"},
        BadConfig{"MappingForAText", "http: {listen: {port: 1}}\n",
                  "outcomed.yaml:3:16: http.listen: is a mapping; write a text\n"}),
    test_name);

class BadStart : public ::testing::TestWithParam<BadConfig> {};

// The sections of kGoodStart themselves.
TEST_P(BadStart, IsRefusedWithTheExactLine) {
  EXPECT_EQ(to_text(load_text(GetParam().text).problems), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Sources, BadStart,
    ::testing::Values(
        BadConfig{"UnknownSourceKind",
                  "sources: {a: {kind: promethus, url: x}}\npresets: [{litellm: {metrics: a}}]\n",
                  "outcomed.yaml:1:21: sources.a.kind: unknown kind promethus; did you mean "
                  "prometheus?\n"},
        BadConfig{
            "SqlThatLacksAColumn",
            "sources: {a: {kind: postgres, host: x, dbname: y, user: z}}\nsignals: {s: {source: "
            "a, sql: 'select at, n from t where at >= :from and at < :to'}}\n",
            "outcomed.yaml:2:31: signals.s.sql: returns no column k: return at, n, k and the "
            "labels\n"},
        BadConfig{
            "SignalOfADatabaseWithoutSql",
            "sources: {a: {kind: postgres, host: x, dbname: y, user: z}}\nsignals: {s: {source: "
            "a}}\n",
            "outcomed.yaml:2:14: signals.s.sql: is missing; write a query that returns at, n, k "
            "and labels\n"},
        BadConfig{"DatabaseWithoutItsHost",
                  "sources: {a: {kind: postgres}}\npresets: [{litellm: "
                  "{spend: a}}]\n",
                  "outcomed.yaml:1:14: sources.a.host: is missing; name the server: 127.0.0.1\n"},
        BadConfig{"SourceWithoutKind",
                  "sources: {a: {url: \"http://x\"}}\npresets: [{litellm: {metrics: a}}]\n",
                  "outcomed.yaml:1:14: sources.a.kind: is missing; name the kind of the source\n"},
        BadConfig{"SourceWithoutUrl",
                  "sources: {a: {kind: prometheus}}\npresets: [{litellm: {metrics: a}}]\n",
                  "outcomed.yaml:1:14: sources.a.url: is missing; write http://host:port\n"},
        BadConfig{
            "SourceThatIsNoMapping", "sources: {a: http://x}\npresets: [{litellm: {metrics: a}}]\n",
            "outcomed.yaml:1:14: sources.a: is a single value; write a mapping of settings\n"},
        BadConfig{"ListOfSources",
                  "sources: [{kind: prometheus}]\npresets: [{litellm: {metrics: a}}]\n",
                  "outcomed.yaml:1:10: sources: is a list; write a mapping from names to sources\n"
                  "outcomed.yaml:2:31: presets[0].litellm.metrics: unknown source a; there are no "
                  "sources here\n"},
        BadConfig{"BareHostForAUrl",
                  "sources: {a: {kind: prometheus, url: 127.0.0.1:9090}}\nsignals: {}\n",
                  "outcomed.yaml:1:38: sources.a.url: not a URL; it must start with http:// or "
                  "https://\n"},
        BadConfig{"TwoCredentials",
                  "sources:\n  a:\n    kind: prometheus\n    url: http://x\n    bearer_token: "
                  "env:A\n    basic_auth: {username: b, password: env:B}\nsignals: {}\n",
                  "outcomed.yaml:5:19: sources.a.bearer_token: basic_auth and bearer_token exclude "
                  "each other; keep one of them\n"},
        BadConfig{"SizeWithoutUnit",
                  "sources: {a: {kind: prometheus, url: \"http://x\", max_bytes: 64MB}}\nsignals: "
                  "{}\n",
                  "outcomed.yaml:1:61: sources.a.max_bytes: 64MB is not a size; did you mean "
                  "64MiB?\n"},
        BadConfig{
            "EndlessDelay",
            "sources: {a: {kind: prometheus, url: \"http://x\", delay: 30d}}\nsignals: {}\n",
            "outcomed.yaml:1:57: sources.a.delay: longer than a week; the delay is how late data "
            "come in, such as 30s\n"},
        BadConfig{"UnknownPreset", "sources: {}\npresets: [{lite-llm: {}}]\n",
                  "outcomed.yaml:2:12: presets[0].lite-llm: unknown preset lite-llm; did you mean "
                  "litellm?\n"},
        BadConfig{"PresetWithoutSettings", "sources: {}\npresets: [litellm]\n",
                  "outcomed.yaml:2:11: presets[0]: is a single value; write a list: [{litellm: "
                  "{metrics: prom}}]\n"},
        BadConfig{
            "PresetWithoutSource", "sources: {}\npresets: [{litellm: {version: auto}}]\n",
            "outcomed.yaml:2:21: presets[0].litellm: neither metrics nor spend is given; name "
            "the source of the gateway's metrics: metrics: prom\n"},
        BadConfig{
            "VersionThatIsNone",
            "sources: {a: {kind: prometheus, url: \"http://x\"}}\npresets: [{litellm: "
            "{metrics: a, version: main}}]\n",
            "outcomed.yaml:2:43: presets[0].litellm.version: main is not a version; write auto, "
            "or a version such as 1.81.9\n"},
        BadConfig{
            "SpendWithoutTables",
            "sources: {a: {kind: prometheus, url: \"http://x\"}}\npresets: [{litellm: "
            "{metrics: a, spend: a}}]\n",
            "outcomed.yaml:2:41: presets[0].litellm.spend: a source of kind prometheus has no "
            "spend tables; name a source of kind postgres, or remove the setting\n"},
        BadConfig{"RuleOfAPresetThatIsNotConfigured",
                  "sources: {r: {kind: recording, path: x.csv}}\nsignals: {mine: {source: "
                  "r}}\nrules: [{name: a, kind: share, signal: requests, above: 5%}]\n",
                  "outcomed.yaml:3:40: rules[0].signal: unknown signal requests; it comes with "
                  "presets: [{litellm: {metrics: …}}]\n"}),
    test_name);

}  // namespace
}  // namespace outcomed
