// gateway_sim: a LiteLLM gateway that never was, for tests, demos and benchmarks.
#include <fmt/core.h>
#include <signal.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "queries/base/time.h"
#include "tests/support/gateway_sim/gateway.h"
#include "tests/support/gateway_sim/history.h"
#include "tests/support/gateway_sim/ledger.h"
#include "tests/support/gateway_sim/server.h"

namespace outcomed::sim {
namespace {

constexpr std::string_view kHelp = R"(gateway_sim: a simulated LiteLLM gateway

It serves a gateway's /metrics page whose counters follow a scripted timeline, and can tell what each
client got (the truth that the counters must add up to). Same seed, same requests.

  gateway_sim [--port N] …                 serve on 127.0.0.1; the port is printed (0: any free one)
  gateway_sim --openmetrics FILE --days N … write the history up to --end as OpenMetrics text instead

  --scenario NAME   demo, soak or all (all: every kind of failure once in 106 minutes)
  --script FILE     a timeline of your own; one phase a line: AT LENGTH EFFECT [MODEL] [share=92%]
                    [to=MODEL], and "cycle 6h", "swing 50%", "noise 0.2%". Effects: refuse capped
                    outage absorb fallback fallback_fails rate_limit caller_errors timeouts
                    not_found authentication unknown_model quiet restart born never
  --version V       1.81.9 (counts twice), 1.106.12 or any other
  --models M        8; --keys K  1: API keys, each with series of its own; --rate R  8 requests/s
  --seed N          1
  --speed X         1: the timeline runs X times as fast (60: one minute a second)
  --duration D      end by itself when so much of the timeline has passed; 0: never
  --key SECRET      the page needs "Authorization: Bearer SECRET", else 401
  --truth FILE      JSON lines: at, model, status, class, exception, stream, served_by
  --rows FILE       the rows of LiteLLM_SpendLogs, each batch when it lands: a header, then lines of
                    COPY text behind a column visible_at; --late D  60s: the longest that a row takes
  --days N          1: length of the history; --step D  60s between scrapes; --end TIME  now
  --only A,B        keep only metrics whose names hold one of these

Example: a month for Prometheus, with the truth beside it
  gateway_sim --scenario soak --days 30 --end 2026-11-30T00:00:00Z --openmetrics m.om --truth m.jsonl
  promtool tsdb create-blocks-from openmetrics m.om data
)";

using Flags = std::map<std::string, std::string, std::less<>>;

std::int64_t unix_now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<Flags> read_flags(int argc, char** argv) {
  Flags flags = {{"port", "0"},   {"scenario", "demo"}, {"script", ""},      {"version", "1.81.9"},
                 {"models", "8"}, {"keys", "1"},        {"rate", "8"},       {"seed", "1"},
                 {"speed", "1"},  {"duration", "0"},    {"key", ""},         {"truth", ""},
                 {"days", "1"},   {"step", "60s"},      {"openmetrics", ""}, {"end", ""},
                 {"only", ""},    {"rows", ""},         {"late", "60s"}};
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--help" || word == "-h") {
      flags["help"] = "yes";
      continue;
    }
    if (!word.starts_with("--")) {
      return Error{ErrorKind::invalid, fmt::format("what is \"{}\"? See --help", word)};
    }
    word.remove_prefix(2);
    const auto equals = word.find('=');
    const auto found = flags.find(word.substr(0, equals));
    if (found == flags.end()) {
      return Error{ErrorKind::invalid, fmt::format("there is no flag --{}; see --help", word)};
    }
    if (equals == std::string_view::npos && i + 1 >= argc) {
      return Error{ErrorKind::invalid, fmt::format("--{} needs a value", word)};
    }
    found->second = equals == std::string_view::npos ? argv[++i] : word.substr(equals + 1);
  }
  return flags;
}

template <class Number>
Result<Number> number(const Flags& flags, std::string_view name) {
  const std::string& text = flags.find(name)->second;
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return Error{ErrorKind::invalid, fmt::format("--{} \"{}\" is not a number", name, text)};
}

Result<Script> read_script(const Flags& flags) {
  const std::string& file = flags.find("script")->second;
  if (file.empty()) {
    const auto text = builtin_script(flags.find("scenario")->second);
    if (!text) return text.error();
    return parse_script(*text);
  }
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return Error{ErrorKind::invalid, fmt::format("can't read {}", file)};
  auto script = parse_script(text.str());
  if (!script) return std::move(script).error().while_doing(file);
  return script;
}

Result<GatewayOptions> read_options(const Flags& flags) {
  auto script = read_script(flags);
  const auto seed = number<std::uint64_t>(flags, "seed");
  const auto models = number<int>(flags, "models");
  const auto keys = number<int>(flags, "keys");
  const auto rate = number<double>(flags, "rate");
  const auto speed = number<double>(flags, "speed");
  if (!script) return std::move(script).error();
  if (!seed) return seed.error();
  if (!models) return models.error();
  if (!keys) return keys.error();
  if (!rate) return rate.error();
  if (!speed) return speed.error();
  GatewayOptions options;
  options.version = flags.find("version")->second;
  options.script = *std::move(script);
  options.seed = *seed;
  options.models = *models;
  options.keys = *keys;
  options.rate = *rate;
  options.speed = *speed;
  return options;
}

// Writes the truth line by line; silent without a file.
class TruthFile {
 public:
  Status open(const std::string& file) {
    if (file.empty()) return ok();
    out_.open(file, std::ios::trunc);
    if (!out_) return Error{ErrorKind::invalid, fmt::format("can't write {}", file)};
    return ok();
  }
  Gateway::OnRequest taker() {
    if (!out_.is_open()) return {};
    return [this](const ClientRequest& request) { out_ << to_json(request); };
  }
  void flush() {
    if (out_.is_open()) out_.flush();
  }

 private:
  std::ofstream out_;
};

// Writes the rows that have landed; silent without a file.
class RowsFile {
 public:
  Status open(const Flags& flags) {
    const std::string& file = flags.find("rows")->second;
    if (file.empty()) return ok();
    const auto late = parse_duration(flags.find("late")->second);
    const auto traits = traits_of(flags.find("version")->second);
    const auto seed = number<std::uint64_t>(flags, "seed");
    if (!late) return late.error();
    if (!traits) return traits.error();
    if (!seed) return seed.error();
    out_.open(file, std::ios::trunc);
    if (!out_) return Error{ErrorKind::invalid, fmt::format("can't write {}", file)};
    out_ << Ledger::header();
    ledger_.emplace(*traits, *seed, late->count());
    return ok();
  }
  Gateway::OnRow taker() {
    if (!ledger_) return {};
    return [this](const LedgerEntry& entry) { ledger_->add(entry); };
  }
  void land(std::int64_t unix_ms) {
    if (!ledger_) return;
    ledger_->land(unix_ms, [this](std::string_view lines) { out_ << lines; });
    out_.flush();
  }
  // A gateway that ends writes what it has.
  void land_all() { land(std::numeric_limits<std::int64_t>::max()); }

 private:
  std::ofstream out_;
  std::optional<Ledger> ledger_;
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

Status write_history(const Flags& flags, GatewayOptions options, TruthFile& truth, RowsFile& rows) {
  const auto days = number<double>(flags, "days");
  const auto step = parse_duration(flags.find("step")->second);
  if (!days) return days.error();
  if (!step) return step.error();
  if (*days <= 0 || step->count() <= 0) {
    return Error{ErrorKind::invalid, "--days and --step must be above 0"};
  }
  std::int64_t end = unix_now_ms();
  if (const std::string& text = flags.find("end")->second; !text.empty()) {
    const auto time = parse_timestamp(text);
    if (!time) return time.error();
    end = unix_ms(*time);
  }
  end -= end % step->count();
  const auto steps = static_cast<std::int64_t>(*days * 86'400'000) / step->count();
  options.origin_ms = end - steps * step->count();
  options.speed = 1;
  auto gateway = Gateway::make(std::move(options), truth.taker(), rows.taker());
  if (!gateway) return std::move(gateway).error();
  History history(split(flags.find("only")->second));
  for (std::int64_t i = 0; i <= steps; ++i) {
    const std::int64_t at = end - (steps - i) * step->count();
    gateway->advance_to_unix(at);
    history.scrape(*gateway, at);
    rows.land(at);
  }
  rows.land_all();
  const std::string& file = flags.find("openmetrics")->second;
  std::FILE* out = file == "-" ? stdout : std::fopen(file.c_str(), "wb");
  if (out == nullptr) return Error{ErrorKind::invalid, fmt::format("can't write {}", file)};
  bool good = true;
  history.write([&](std::string_view piece) {
    good = good && std::fwrite(piece.data(), 1, piece.size(), out) == piece.size();
  });
  good = std::fflush(out) == 0 && good;
  if (out != stdout) good = std::fclose(out) == 0 && good;
  if (!good) return Error{ErrorKind::unavailable, fmt::format("can't write {}", file)};
  fmt::print(stderr, "{} samples of {} series up to {}\n", history.samples(), history.series(),
             format_rfc3339(from_unix_ms(end)));
  return ok();
}

Status serve(const Flags& flags, GatewayOptions options, TruthFile& truth, RowsFile& rows) {
  const auto port = number<std::uint16_t>(flags, "port");
  const auto duration = parse_duration(flags.find("duration")->second);
  if (!port) return port.error();
  if (!duration) return duration.error();
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // Before the server's thread begins.

  options.origin_ms = unix_now_ms();
  const double speed = options.speed;
  const std::int64_t origin = options.origin_ms;
  auto gateway = Gateway::make(std::move(options), truth.taker(), rows.taker());
  if (!gateway) return std::move(gateway).error();
  auto server = Server::start(*gateway, *port, flags.find("key")->second, unix_now_ms);
  if (!server) return std::move(server).error();
  fmt::print("listening on http://127.0.0.1:{}\n", (*server)->port());
  std::fflush(stdout);
  while (true) {
    const std::int64_t now = unix_now_ms();
    {
      const std::lock_guard lock((*server)->mutex());
      gateway->advance_to_unix(now);
      truth.flush();
      rows.land(now);
    }
    const double passed = static_cast<double>(now - origin) * speed;
    const timespec wait{0, 200'000'000};
    if ((duration->count() > 0 && passed >= static_cast<double>(duration->count())) ||
        sigtimedwait(&ends, nullptr, &wait) > 0) {
      break;
    }
  }
  const std::lock_guard lock((*server)->mutex());
  rows.land_all();
  return ok();
}

int run(int argc, char** argv) {
  const auto fail = [](const Error& error) {
    fmt::print(stderr, "gateway_sim: {}\n", error.message);
    return error.kind == ErrorKind::invalid ? 2 : 1;
  };
  const auto flags = read_flags(argc, argv);
  if (!flags) return fail(flags.error());
  if (flags->contains("help")) {
    fmt::print("{}", kHelp);
    return 0;
  }
  auto options = read_options(*flags);
  if (!options) return fail(options.error());
  TruthFile truth;
  if (Status status = truth.open(flags->find("truth")->second); !status)
    return fail(status.error());
  RowsFile rows;
  if (Status status = rows.open(*flags); !status) return fail(status.error());
  const bool history = !flags->find("openmetrics")->second.empty();
  const Status status = history ? write_history(*flags, *std::move(options), truth, rows)
                                : serve(*flags, *std::move(options), truth, rows);
  return status ? 0 : fail(status.error());
}

}  // namespace
}  // namespace outcomed::sim

int main(int argc, char** argv) { return outcomed::sim::run(argc, argv); }
