#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ostream>
#include <random>
#include <thread>

#include "daemon/api.h"
#include "daemon/commands/options.h"
#include "daemon/config/last_good.h"
#include "daemon/http/server.h"
#include "daemon/log.h"
#include "daemon/net/curl_client.h"
#include "daemon/plugins.h"
#include "daemon/runtime/reporting.h"
#include "daemon/runtime/watcher.h"
#include "daemon/storage/sqlite_store.h"
#include "daemon/systemd_notify.h"
#include "daemon/telemetry/metrics.h"
#include "daemon/version.h"
#include "queries/base/private_hosts.h"

namespace outcomed {
namespace {

constexpr Duration kStopGrace = std::chrono::seconds(10);

// Signals are taken by one thread that waits for them; all others have them blocked.
sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&signals, signal);
  return signals;
}

// Between 0 and 1, one generator for each thread: deliveries of several receivers draw at once.
double draw_jitter() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

Retention retention_of(const StoreConfig& config) {
  Retention retention;
  retention.buckets = config.keep_buckets;
  retention.long_buckets = config.keep_long_buckets;
  retention.episodes = config.keep_episodes;
  retention.settled = config.keep_deliveries;
  retention.configs = config.keep_configs;
  return retention;
}

// The names under which people reach the API: the links of messages lead to external_url.
std::vector<std::string> host_names(const HttpConfig& config) {
  std::vector<std::string> names = config.allowed_hosts;
  if (const auto host = url_host(config.external_url)) names.push_back(*host);
  std::ranges::sort(names);
  return names;
}

// A damaged file is set aside and a new one begun: watching goes on, and the log says what to do.
Result<std::unique_ptr<SqliteStore>> open_store(const StoreConfig& config, Clock& clock,
                                                Logger& log) {
  const Retention retention = retention_of(config);
  auto store = SqliteStore::open(config.sqlite, retention);
  if (store || store.error().kind != ErrorKind::corrupt) return store;
  log.error("the history is damaged; it is set aside and a new one begun",
            {{"file", config.sqlite}, {"reason", store.error().message}});
  if (Status moved = set_aside(config.sqlite, clock.now()); !moved) return std::move(moved).error();
  return SqliteStore::open(config.sqlite, retention);
}

// Where systemd keeps our state; empty when nobody says so: then no copy of the configuration is
// kept, and a broken file ends the start.
std::filesystem::path state_folder(const Shell& shell) {
  const std::string folders = shell.environment("STATE_DIRECTORY").value_or("");
  return folders.substr(0, folders.find(':'));
}

// Everything of one process that runs.
class Daemon {
 public:
  Daemon(std::string config_path, Shell& shell, LogLevel level)
      : config_path_(std::move(config_path)),
        last_good_(state_folder(shell)),
        clock_(shell.clock),
        environment_(shell.environment),
        metrics_(kVersion, shell.clock.now()),
        log_(make_stderr_logger(level, [this] { metrics_.warned(); })),
        reporting_(*log_, metrics_, shell.clock),
        secrets_(shell.environment),
        http_(secrets_,
              {5s, fmt::format("outcomed/{}", kVersion), [this] { return stopping_.load(); }}),
        // What is being sent may end; what isn't told by then is told after the next start.
        receiver_http_(secrets_, {5s, fmt::format("outcomed/{}", kVersion),
                                  [this] { return stopping_ && grace_is_over(); }}),
        notify_(shell.environment("NOTIFY_SOCKET").value_or("")) {}

  // With the copy of what was in force last, because the file is broken.
  ExitStatus start_from_copy(LoadedConfig copy, const std::vector<ConfigProblem>& problems) {
    const std::string reason = reason_of(problems);
    if (const ExitStatus status = start(std::move(copy)); status != ExitStatus::ok) return status;
    reporting_.reloaded(false, problems, "the file has problems");
    watcher_->config_broken(reason);
    return ExitStatus::ok;
  }

  ExitStatus start(LoadedConfig loaded) {
    in_force_ = loaded.text;
    http_config_ = loaded.config.http;
    store_path_ = loaded.config.store.sqlite;
    const std::string hash = loaded.hash;
    auto store = open_store(loaded.config.store, clock_, *log_);
    if (!store) return fail("the store can't be opened", store.error(), ExitStatus::io);
    store_ = *std::move(store);
    watcher_ = std::make_unique<Watcher>(
        Watcher::World{http_, receiver_http_, secrets_, *store_, clock_, draw_jitter, reporting_});
    if (const Status status = watcher_->load(std::move(loaded)); !status) {
      return fail("could not start", status.error(),
                  status.error().kind == ErrorKind::invalid ? ExitStatus::config : ExitStatus::io);
    }
    reporting_.reloaded(true, {}, hash);
    keep_copy();
    return ExitStatus::ok;
  }

  ExitStatus run_once() { return watcher_->run_once() ? ExitStatus::ok : ExitStatus::unavailable; }

  ExitStatus run() {
    HttpServerOptions options;
    options.listen = http_config_.listen;
    options.host_names = host_names(http_config_);
    options.on_handler_error = [this](const std::string& what) {
      log_->error("a request failed", {{"reason", what}});
    };
    auto server = HttpServer::start(
        options, api_routes({*watcher_, *store_, [this] { return metrics_.page(); }}), clock_);
    if (!server) return fail("the API can't listen", server.error(), status_of(server.error()));
    log_->info("watching",
               {{"version", kVersion}, {"api", http_config_.listen}, {"store", store_path_}});
    notify_.send("READY=1\nSTATUS=watching");

    std::stop_source stop;
    std::jthread signals([this, &stop] { take_signals(stop); });
    watcher_->run(
        stop.get_token(), [this, &stop] { before_tick(stop); },
        [this] { notify_.send("WATCHDOG=1"); });
    (*server)->stop(kStopGrace);
    signals_done_ = true;
    pthread_kill(signals.native_handle(), SIGHUP);  // Wakes it; it sees that it is done.
    log_->info("stopped");
    return broken_ ? ExitStatus::io : ExitStatus::ok;
  }

 private:
  ExitStatus fail(std::string_view event, const Error& error, ExitStatus status) {
    log_->error(event, {{"reason", error.message}});
    return status;
  }

  void take_signals(std::stop_source& stop) {
    const sigset_t signals = handled_signals();
    while (true) {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0 || signals_done_) return;
      if (signal == SIGHUP) {
        reload_wanted_ = true;
        watcher_->wake();
        continue;
      }
      log_->info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
      notify_.send("STOPPING=1");
      if (!stopping_) stopping_since_ = clock_.steady_now();
      stopping_ = true;
      stop.request_stop();
      watcher_->wake();
    }
  }

  [[nodiscard]] bool grace_is_over() const {
    return clock_.steady_now() - stopping_since_.load() > kStopGrace;
  }

  void before_tick(std::stop_source& stop) {
    if (const auto error = store_->broken()) {
      // What reached the disk is known only after a restart.
      log_->error("the store has failed for good; ending, a restart recovers",
                  {{"reason", error->message}});
      broken_ = true;
      stop.request_stop();
      return;
    }
    if (reload_wanted_.exchange(false)) reload();
  }

  static std::string reason_of(const std::vector<ConfigProblem>& problems) {
    if (problems.empty()) return "the file has problems";
    std::string reason = to_text(problems.front());
    if (problems.size() > 1) reason += fmt::format(" (and {} more)", problems.size() - 1);
    return reason;
  }

  // Empty: the new configuration is in force.
  std::string try_to_reload() {
    LoadedConfig loaded = load_config(config_path_, catalogs());
    if (!loaded.ok()) {
      reporting_.reloaded(false, loaded.problems, "the file has problems");
      return reason_of(loaded.problems);
    }
    std::string reason;
    if (loaded.config.store.sqlite != store_path_) {
      reason = "another store needs a restart";
    } else if (loaded.config.http.listen != http_config_.listen) {
      reason = "another listen address needs a restart";
    } else if (host_names(loaded.config.http) != host_names(http_config_)) {
      reason = "other host names (http.allowed_hosts, http.external_url) need a restart";
    } else {
      const Retention retention = retention_of(loaded.config.store);
      const std::string hash = loaded.hash;
      std::string text = loaded.text;
      const Status status = watcher_->load(std::move(loaded));
      if (status) {
        in_force_ = std::move(text);
        store_->set_retention(retention);
        reporting_.reloaded(true, {}, hash);
        keep_copy();
        return {};
      }
      reason = status.error().message;
    }
    reporting_.reloaded(false, {}, reason);
    return reason;
  }

  void reload() {
    notify_.send("RELOADING=1");
    if (const std::string reason = try_to_reload(); !reason.empty()) {
      watcher_->config_broken(reason);
    }
    notify_.send("READY=1");
  }

  void keep_copy() {
    const Status kept = last_good_.keep(in_force_);
    if (!kept) reporting_.store_failed("copy of the configuration", kept.error());
  }

  const std::string config_path_;
  LastGood last_good_;
  std::string in_force_;  // The text of the configuration.
  Clock& clock_;
  Environment environment_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> reload_wanted_ = false;
  std::atomic<bool> signals_done_ = false;
  bool broken_ = false;
  Metrics metrics_;
  std::unique_ptr<Logger> log_;
  Reporting reporting_;
  FileSecretReader secrets_;
  std::atomic<SteadyTime> stopping_since_ = SteadyTime{};
  CurlClient http_;
  CurlClient receiver_http_;
  SystemdNotify notify_;
  HttpConfig http_config_;
  std::string store_path_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace

ExitStatus run_daemon(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "run [--config FILE] [--once]",
      "Watches: reads the sources on schedule, judges, tells, keeps the history. SIGHUP reads\n"
      "the configuration again and keeps the old one on any error; SIGTERM and SIGINT end it.\n"
      "Logs go to standard error, one event a line.",
      "outcomed run --config /etc/outcomed/outcomed.yaml");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .flag("once", "one tick and one round of telling, then end (69 if something didn't answer)")
      .value("log-level", "info", "debug, info, warn or error");
  if (const auto end = options.parse(arguments, shell)) return *end;
  const auto level = parse_log_level(options.text("log-level"));
  if (!level) return usage_error(shell, "--log-level: " + level.error().message);
  LoadedConfig loaded;
  std::vector<ConfigProblem> problems;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) {
    const LastGood last_good(state_folder(shell));
    const auto copy = options.has("once") ? std::nullopt : last_good.read();
    if (!copy) return *end;
    problems = std::move(loaded.problems);
    loaded = load_config_text(*copy, options.text("config"), catalogs());
    if (!loaded.ok()) return *end;
    shell.err << "outcomed: going on with the configuration that was in force last: "
              << last_good.path().string() << "\n";
  }
  for (const ConfigProblem& note : loaded.notes) shell.err << "note: " << to_text(note) << "\n";

  const sigset_t signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // Before any thread starts: they inherit it.
  Daemon daemon(options.text("config"), shell, *level);
  const ExitStatus started = problems.empty() ? daemon.start(std::move(loaded))
                                              : daemon.start_from_copy(std::move(loaded), problems);
  if (started != ExitStatus::ok) return started;
  return options.has("once") ? daemon.run_once() : daemon.run();
}

}  // namespace outcomed
