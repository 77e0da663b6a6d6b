#include "tests/support/gateway_sim/script.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "queries/base/time.h"

namespace outcomed::sim {
namespace {

constexpr std::array<std::pair<std::string_view, Effect>, 16> kEffects = {{
    {"refuse", Effect::refuse},
    {"capped", Effect::capped},
    {"outage", Effect::outage},
    {"absorb", Effect::absorb},
    {"fallback", Effect::fallback},
    {"fallback_fails", Effect::fallback_fails},
    {"rate_limit", Effect::rate_limit},
    {"caller_errors", Effect::caller_errors},
    {"timeouts", Effect::timeouts},
    {"not_found", Effect::not_found},
    {"authentication", Effect::authentication},
    {"unknown_model", Effect::unknown_model},
    {"quiet", Effect::quiet},
    {"restart", Effect::restart},
    {"born", Effect::born},
    {"never", Effect::never},
}};

// The outage that started this project, between quiet stretches, and what must not be taken for it.
constexpr std::string_view kDemo = R"(
noise 0.2%
0    -   born           newcomer
3m   6m  refuse         judge    share=92%
12m  5m  absorb         gpt-4o   share=30%
20m  5m  rate_limit     flaky    share=60%
28m  4m  caller_errors  capped   share=60%
cycle 35m
)";

// Every effect once, with rest between. Nothing is lost at the restart: it comes after a silence
// that is longer than a scrape interval. (authentication is not here: before 1.106 no counter shows
// it.)
constexpr std::string_view kAll = R"(
noise 0.2%
0    -    never           stillborn
35m  -    born            newcomer
5m   6m   refuse          judge         share=92%
14m  5m   absorb          gpt-4o        share=30%
22m  5m   fallback        flaky         to=gpt-4o
30m  4m   fallback_fails  flaky         share=50%  to=gpt-4o
40m  5m   rate_limit      judge         share=70%
48m  5m   caller_errors   gpt-4o        share=40%
56m  5m   timeouts        private/qwen  share=60%
64m  4m   capped          capped        share=75%
71m  4m   not_found       judge
78m  4m   unknown_model   nosuch        share=5%
85m  5m   outage          gpt-4o        share=50%
94m  2m   quiet
95m30s 20s restart
100m 6m   refuse          judge         share=92%
)";

// A day's swing, an incident every few hours, a restart a cycle.
constexpr std::string_view kSoak = R"(
noise 0.2%
swing 50%
cycle 12h
0      -    never           stillborn
13h    -    born            newcomer
1h     20m  refuse          judge         share=92%
2h30m  25m  absorb          gpt-4o        share=30%
4h     15m  fallback        flaky         to=gpt-4o
5h     10m  rate_limit      judge         share=60%
6h30m  12m  caller_errors   gpt-4o        share=30%
8h     10m  timeouts        private/qwen  share=50%
9h     2m   quiet
9h1m30s 20s restart
10h    8m   outage          gpt-4o        share=20%
)";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  while (true) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::optional<double> share_of(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (percent) value /= 100;
  return value >= 0 && value <= 1 ? std::optional(value) : std::nullopt;
}

class LineReader {
 public:
  Result<Script> read(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const auto end = std::min(text.find('\n'), text.size());
      const auto words = words_of(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (words.empty()) continue;
      Status status = words.size() == 2 ? setting(words) : phase(words);
      if (!status) return std::move(status).error();
    }
    return std::move(script_);
  }

 private:
  [[nodiscard]] Error bad(std::string_view what) const {
    return {ErrorKind::invalid, fmt::format("script line {}: {}", line_, what)};
  }

  Status setting(const std::vector<std::string_view>& words) {
    if (words[0] == "cycle") {
      const auto cycle = parse_duration(words[1]);
      if (!cycle) return bad(cycle.error().message);
      script_.cycle_ms = cycle->count();
      return ok();
    }
    const auto share = share_of(words[1]);
    if (!share) return bad(fmt::format("\"{}\" is not a share", words[1]));
    if (words[0] == "swing") {
      script_.swing = *share;
    } else if (words[0] == "noise") {
      script_.noise = *share;
    } else {
      return bad("expected AT LENGTH EFFECT, or cycle, swing or noise and its value");
    }
    return ok();
  }

  Status phase(const std::vector<std::string_view>& words) {
    if (words.size() < 3) return bad("expected AT LENGTH EFFECT [MODEL] [share=…] [to=…]");
    Phase phase;
    const auto at = parse_duration(words[0]);
    if (!at) return bad(at.error().message);
    phase.begin_ms = at->count();
    if (words[1] != "-") {
      const auto length = parse_duration(words[1]);
      if (!length) return bad(length.error().message);
      phase.end_ms = phase.begin_ms + length->count();
    }
    const auto effect =
        std::ranges::find(kEffects, words[2], &std::pair<std::string_view, Effect>::first);
    if (effect == kEffects.end()) return bad(fmt::format("no effect is called \"{}\"", words[2]));
    phase.effect = effect->second;
    for (std::size_t i = 3; i < words.size(); ++i) {
      if (Status status = argument(words[i], phase); !status) return status;
    }
    const bool falls_back =
        phase.effect == Effect::fallback || phase.effect == Effect::fallback_fails;
    if (falls_back == phase.other.empty())
      return bad("to=MODEL belongs to fallbacks and only there");
    script_.phases.push_back(std::move(phase));
    return ok();
  }

  Status argument(std::string_view word, Phase& phase) const {
    if (word.starts_with("share=")) {
      const auto share = share_of(word.substr(6));
      if (!share) return bad(fmt::format("\"{}\" is not a share", word.substr(6)));
      phase.share = *share;
    } else if (word.starts_with("to=")) {
      phase.other = word.substr(3);
    } else if (phase.model.empty()) {
      phase.model = word;
    } else {
      return bad(fmt::format("what is \"{}\"?", word));
    }
    return ok();
  }

  Script script_;
  std::size_t line_ = 0;
};

}  // namespace

bool Script::on(const Phase& phase, std::int64_t at_ms) const {
  const bool once = phase.effect == Effect::born || phase.effect == Effect::never;
  if (cycle_ms > 0 && !once) at_ms %= cycle_ms;
  return phase.begin_ms <= at_ms && at_ms < phase.end_ms;
}

Result<Script> parse_script(std::string_view text) { return LineReader().read(text); }

Result<std::string_view> builtin_script(std::string_view name) {
  if (name == "demo") return kDemo;
  if (name == "all") return kAll;
  if (name == "soak") return kSoak;
  return Error{ErrorKind::invalid,
               fmt::format("no scenario is called \"{}\"; there are demo, soak and all", name)};
}

}  // namespace outcomed::sim
