// docs/configuration.md.
#include <fmt/core.h>

#include <cmath>

#include "daemon/config/schema.h"
#include "daemon/config/shapes.h"

namespace outcomed {
namespace {

constexpr std::string_view kIntroduction =
    R"md(<!-- Made from the declarations in the code: OUTCOMED_REGENERATE=1 config_tests writes this page. -->
# Configuration

One YAML file, `/etc/outcomed/outcomed.yaml` unless `--config` names another. Beside it, the files
`rules.d/*.yaml` are read in the order of their names; only `rules:` may stand in them, and their rules
are added to those of the main file. Folders in `rules.d`, files whose name starts with a dot, and files
with another suffix are not read (`check` mentions `.yml` and `.json` files, which were perhaps meant to
be). Relative paths are taken from the folder of the main file.

`outcomed check` says everything that is wrong, one line each, and ends with status 78 if there is
anything:

    outcomed.yaml:41:12: rules[2].above: 10 is not a share; did you mean 10%?

`outcomed check --print-schema` prints a JSON Schema for editors.

Unknown keys, duplicate keys, unknown references and lines that can never be reached are errors. A
setting with nothing behind its colon is an error too: remove the key to have its default.

## YAML

Files are UTF-8, at most 1 MiB, 64 levels deep, one document each. Anchors, aliases, merge keys and tags
are refused: they make a file mean something else than it says. What a plain text means is decided by
the setting that reads it: `no`, `on`, `010` and `1e3` are texts where a text is expected, and errors
where a number or `true`/`false` is. Texts that start with `{`, `[`, `@`, `%`, `*`, `&`, `!`, or hold `: `
or ` #`, need quotes.

## Values

| value | written as | notes |
|---|---|---|
| flag | `true`, `false` | no other words |
| count | `20` | decimal digits |
| size | `64MiB` | B, KiB, MiB, GiB, TiB |
| duration | `30s`, `15m`, `1h30m`, `14d` | units y w d h m s ms, from large to small, each once, whole numbers; a day is 24 hours; `0` needs no unit |
| share | `10%` or `0.1` | at most 100 % |
| text | `gpt-4o` | quotes where YAML needs them |
| url | `http://127.0.0.1:9090` | http or https; no credentials inside |
| path | `/var/lib/outcomed/history.db` | |
| secret | `file:/path`, `env:NAME`, `cred:NAME` | where it lies, never the secret itself; `cred:` is a systemd credential; read again when it changes |
| matchers | `['model=~"gpt-.*"', 'team!="qa"']` | Alertmanager's operators `=` `!=` `=~` `!~`; RE2, anchored at both ends; a missing label is empty |
| labels | `{team: search}` | names are letters, digits and `_` |
| headers | `{X-Scope-OrgID: tenant}` | values may be secret references; credentials must be |
)md";

constexpr std::string_view kSources = R"md(
## sources

A mapping from names of your choice to where numbers come from.

    sources:
      prom: {kind: prometheus, url: "http://127.0.0.1:9090"}
)md";

constexpr std::string_view kPresets = R"md(
## presets

Ready-made signals. `presets: [{litellm: {metrics: prom}}]` gives those of a LiteLLM gateway.

)md";

constexpr std::string_view kSignals = R"md(
## signals

A mapping from names of your choice to questions of your own: *k of n*, counted by two counters of a
source. A source of kind `recording` that holds buckets (CSV) needs no selectors; the signal has the name
it has there.

    signals:
      checkout:
        source: prom
        failures: 'http_requests_total{code=~"5.."}'
        requests: 'http_requests_total'
        labels: [model]

All signals of one source that have selectors share one `step`.

)md";

constexpr std::string_view kRules = R"md(
## rules

A list. Without `rules:`, here and in `rules.d`, the built-in rules are in force, those of them whose
signal is configured: `outcomed check --print-defaults` shows them. `rules: []` means none.

    rules:
      - name: gateway_failures
        kind: share
        signal: requests
        above: 10%
        window: 1h
        for: 15m
        severity: page

Settings of every rule:

)md";

constexpr std::string_view kReceivers = R"md(
## receivers

A list: each has a `name` and the settings of one or more kinds, all of which are told. One without a
kind takes messages and drops them. A single receiver needs no `route:`.

    receivers:
      - name: oncall
        alertmanager: {urls: ["http://127.0.0.1:9093"]}
)md";

constexpr std::string_view kRoute = R"md(
## route

Alertmanager's tree: an alert goes to the deepest routes that match, the first match among siblings ends
the search unless it says `continue`. Children stand under `routes:`, a list of the same settings.

    route:
      receiver: oncall
      routes:
        - {matchers: ['severity="ticket"'], receiver: hooks}

)md";

constexpr std::string_view kStore = "\n## store\n\n";
constexpr std::string_view kHttp = "\n## http\n\n";
constexpr std::string_view kPrices = R"md(
## prices

What providers publish: a list of tables. Amounts are per million tokens, in one currency, the one the
gateway books in. A table says where and when it was read; `check` notes those that have grown old. A new
tariff is a new table: `valid_to` ends the old one.

    prices:
      - provider: deepseek
        currency: USD
        source: "https://example.org/pricing"
        read_on: 2026-10-01
        calendar: {time_zone: UTC, peak: ["mon-fri 00:30-16:30"]}
        models:
          deepseek-chat:
            aliases: ["ds-*"]
            peak:     {input: 0.27,  cached_input: 0.07,  output: 1.10}
            off_peak: {input: 0.135, cached_input: 0.035, output: 0.55}
            valid_from: 2026-02-01

Settings of a table:

)md";
constexpr std::string_view kPricedModel = R"md(
`models` maps the provider's names of its models to their prices: either `flat`, or `peak` and
`off_peak`. A model that costs nothing has `flat: {input: 0, output: 0}`.

)md";
constexpr std::string_view kHeartbeat =
    "\n## heartbeat\n\nOwn death noticed from outside: a service that expects these requests "
    "raises the alarm when they "
    "stay away.\n\n";

std::string_view kind_name(Setting::Kind kind) {
  switch (kind) {
    case Setting::Kind::flag:
      return "flag";
    case Setting::Kind::count:
      return "count";
    case Setting::Kind::size:
      return "size";
    case Setting::Kind::duration:
      return "duration";
    case Setting::Kind::share:
      return "share";
    case Setting::Kind::text:
      return "text";
    case Setting::Kind::text_list:
      return "list of texts";
    case Setting::Kind::url:
      return "url";
    case Setting::Kind::url_list:
      return "list of urls";
    case Setting::Kind::path:
      return "path";
    case Setting::Kind::secret:
      return "secret";
    case Setting::Kind::matchers:
      return "matchers";
    case Setting::Kind::labels:
      return "labels";
    case Setting::Kind::headers:
      return "headers";
    case Setting::Kind::group:
      return "mapping";
    case Setting::Kind::list:
      return "list of mappings";
  }
  return "";
}

std::string value_text(const Setting& setting) {
  std::string text(kind_name(setting.kind));
  if (setting.kind != Setting::Kind::count) return text;
  // Bounds this wide are there for arithmetic's sake.
  constexpr double kNoBound = 1e12;
  const bool low = std::isfinite(setting.bounds.min) && setting.bounds.min > 0;
  const bool high = std::isfinite(setting.bounds.max) && setting.bounds.max < kNoBound;
  if (low && high)
    return text + fmt::format(", {:.0f} to {:.0f}", setting.bounds.min, setting.bounds.max);
  if (low) return text + fmt::format(", at least {:.0f}", setting.bounds.min);
  if (high) return text + fmt::format(", at most {:.0f}", setting.bounds.max);
  return text;
}

std::string table_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void add_rows(const std::vector<Setting>& settings, const std::string& prefix, std::string& out) {
  for (const Setting& setting : settings) {
    const std::string name = prefix + setting.name;
    const std::string value = setting.value.empty() ? "–" : "`" + table_text(setting.value) + "`";
    out += fmt::format("| `{}` | {} | {} | {} |\n", name, value_text(setting), value,
                       table_text(setting.help));
    if (setting.kind == Setting::Kind::group) add_rows(setting.children, name + ".", out);
    if (setting.kind == Setting::Kind::list && !setting.children.empty()) {
      add_rows(setting.children.front().children, name + "[].", out);
    }
  }
}

std::string table(const std::vector<Setting>& settings) {
  std::string out = "| setting | value | default | meaning |\n|---|---|---|---|\n";
  add_rows(settings, "", out);
  return out;
}

std::string kind_sections(std::string_view of, const std::vector<KindShape>& kinds) {
  std::string out;
  for (const KindShape& shape : kinds) {
    out += fmt::format("\n### {} `{}`\n\n{}.\n\n{}", of, shape.kind, shape.summary,
                       table(shape.settings));
  }
  return out;
}

}  // namespace

std::string reference_page(const Catalogs& catalogs) {
  const ConfigShape shape = config_shape(catalogs);
  std::string page(kIntroduction);
  page += std::string(kSources) + kind_sections("source", shape.sources);
  page += std::string(kPresets) + table(shape.litellm);
  page += std::string(kSignals) + table(shape.signal);
  page += std::string(kRules) + table(shape.rule) + kind_sections("rule", shape.rules);
  page += std::string(kReceivers) + kind_sections("receiver", shape.receivers);
  page += std::string(kRoute) + table(shape.route);
  page += std::string(kStore) + table(shape.store);
  page += std::string(kHttp) + table(shape.http);
  page += std::string(kPrices) + table(shape.price_table);
  page += std::string(kPricedModel) + table(shape.priced_model);
  page += std::string(kHeartbeat) + table(shape.heartbeat);
  return page;
}

}  // namespace outcomed
