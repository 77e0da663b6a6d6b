// A simulated LiteLLM gateway: its counters as a function of time and seed. No clock, no I/O.
//
// What each request adds to which counter follows what real gateways of the version were seen to do
// (doubled counts before 1.81.14, requests served by a fallback booked on either model, router
// refusals without a status, provider 401s in no counter before 1.106, retries counted once …).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "queries/base/result.h"
#include "tests/support/gateway_sim/ledger.h"
#include "tests/support/gateway_sim/metric_page.h"
#include "tests/support/gateway_sim/models.h"
#include "tests/support/gateway_sim/random.h"
#include "tests/support/gateway_sim/script.h"
#include "tests/support/gateway_sim/version.h"

namespace outcomed::sim {

struct GatewayOptions {
  std::string version = "1.81.9";
  Script script;
  std::uint64_t seed = 1;
  int models = 8;
  int keys = 1;                // API keys: each makes series of its own, in the same groups.
  double rate = 8;             // Requests a second, over all models, of the timeline.
  std::int64_t origin_ms = 0;  // Unix time at which the timeline begins.
  double speed = 1;            // So many seconds of the timeline pass in one second of Unix time.
};

// What one client got: the truth that counters must add up to.
struct ClientRequest {
  std::int64_t at_ms = 0;  // Unix time at which it was answered and counted.
  std::string_view model;  // As it was asked for.
  int status = 200;
  std::string_view error_class;  // outcomed's class; empty for a success.
  std::string_view exception;    // The gateway's name of it; empty for a success.
  bool stream = false;
  std::string_view served_by;  // The model that answered; empty for a failure.
};

// {"at":1796005711.812,"model":"judge","status":429,"class":"router_refusal",…}
std::string to_json(const ClientRequest& request);

class Gateway {
 public:
  using OnRequest = std::function<void(const ClientRequest&)>;
  using OnRow = std::function<void(const LedgerEntry&)>;

  // Errors: invalid (version, number of models, a script that names a model that isn't there).
  // `on_row`: what the gateway writes into its database, request by request.
  static Result<Gateway> make(GatewayOptions options, OnRequest on_request = {}, OnRow on_row = {});

  // Lets everything up to this moment of the timeline happen. Never goes back. However the way
  // there is cut, the state is the same.
  void advance_to(std::int64_t timeline_ms);
  // The same in Unix time.
  void advance_to_unix(std::int64_t unix_ms);

  [[nodiscard]] bool up() const { return now_ms_ >= down_until_ms_; }  // Down while restarting.
  // Appends the page as it is now. Nothing while down.
  void write_page(std::string& out, bool openmetrics = false) const;
  // A scrape without a valid key: newer versions count it as a failed request.
  void note_refused_scrape();

  [[nodiscard]] const VersionTraits& traits() const { return traits_; }
  [[nodiscard]] MetricPage& metrics() { return page_; }
  [[nodiscard]] ProcessFacts process() const;
  [[nodiscard]] std::int64_t unix_of(std::int64_t timeline_ms) const;

 private:
  struct Ending;  // How a request ends, where it fails.
  // Which counters one kind of request moves; looked up once.
  struct Recipe {
    std::vector<std::pair<Series*, double>> adds;
    Histogram* total_latency = nullptr;
    Histogram* api_latency = nullptr;
    Histogram* first_token = nullptr;
    Series* input = nullptr;
    Series* output = nullptr;
    Series* tokens = nullptr;
    Series* cached = nullptr;
    Series* reasoning = nullptr;
    Series* spend = nullptr;
    Series* state = nullptr;
    double state_value = 0;
    std::string exception;  // With the provider's name.
  };
  struct Asked {
    std::uint32_t model = 0;
    std::uint32_t deployment = 0;
    std::uint32_t key = 0;
    bool stream = false;
    std::int64_t at_ms = 0;  // Of the timeline.
  };

  // What a success took.
  struct Usage {
    double seconds = 0;
    double input = 0;
    double output = 0;
    double spend = 0;
  };

  Gateway(GatewayOptions options, VersionTraits traits, OnRequest on_request, OnRow on_row);
  Status check_script() const;
  [[nodiscard]] std::optional<std::uint32_t> find_model(std::string_view name) const;
  static const Ending& ending_of(Effect effect, bool second);

  void schedule_next();
  void schedule_restart();
  void restart();
  void one_request(std::int64_t at_ms);
  void serve(const Asked& asked);
  void succeed(const Asked& asked, int retries = 0);
  void fail(const Asked& asked, const Ending& ending, const Phase* phase);
  void fall_back(const Asked& asked, std::uint32_t other, bool works);
  void absorb(const Asked& asked);
  void cool_down(const Asked& asked);
  void tell(const Asked& asked, const Ending* ending, std::string_view exception,
            std::string_view model, std::string_view served_by) const;

  void note_success(const Asked& asked, const Asked& served, const Usage& usage, int retries) const;
  void note_failure(const Asked& asked, const Ending& ending, std::string_view unknown_model,
                    int fallbacks) const;

  [[nodiscard]] LabelValues values_of(const Asked& asked) const;
  void spend_recipe(Recipe& recipe, const LabelValues& values, bool stream);
  void attempt_failed(Recipe& recipe, const LabelValues& values);
  void fail_recipe(Recipe& recipe, const Asked& asked, const Ending& ending,
                   std::string_view unknown_model);
  void fall_back_recipe(Recipe& recipe, const Asked& asked, const Asked& substitute, bool works);
  Usage apply(Recipe& recipe, const Model& model);
  Recipe& recipe(std::uint64_t kind, const Asked& asked, std::uint32_t other, bool& fresh);
  [[nodiscard]] double now() const { return static_cast<double>(unix_of(now_ms_)) / 1000; }

  GatewayOptions options_;
  VersionTraits traits_;
  OnRequest on_request_;
  OnRow on_row_;
  std::vector<Model> models_;
  std::vector<double> weights_;  // Cumulated.
  std::vector<std::string> keys_;
  MetricPage page_;
  Random random_;
  std::unordered_map<std::uint64_t, Recipe> recipes_;
  std::unordered_map<std::uint32_t, std::int64_t> cooled_down_at_;  // By model.
  std::int64_t now_ms_ = 0;
  double next_ms_ = 0;              // Of the next request.
  std::int64_t restart_at_ms_ = 0;  // Of the next restart.
  std::int64_t restart_length_ms_ = 0;
  std::int64_t down_until_ms_ = 0;
  std::int64_t started_ms_ = 0;  // Of the present process.
  std::uint64_t served_ = 0;
};

}  // namespace outcomed::sim
