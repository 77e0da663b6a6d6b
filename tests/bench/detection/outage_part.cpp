// S5: a provider is down, with 30 of the 300 models of a gateway behind it; how long from recorded
// incidents of providers.
#include <fmt/core.h>

#include <algorithm>

#include "parts.h"
#include "rows.h"
#include "rules.h"
#include "scenarios.h"
#include "surge_watch.h"

namespace outcomed::bench {
namespace {

using std::chrono::minutes;

constexpr int kModels = 30;
constexpr int kLearn = 14 * kDay;
constexpr int kCalm = 60;
constexpr double kRates[] = {0.2, 1, 5, 20};  // Of the models in turn.
constexpr double kNormal = 0.01;

// Minutes that incidents of providers' interfaces took.
std::vector<double> incident_minutes(const std::string& data) {
  std::vector<double> lengths;
  for (const auto& row : read_csv(data + "/llm_incidents.csv")) {
    if (row.size() == 5 && row[4] == "1" && std::stod(row[2]) >= 1) {
      lengths.push_back(std::stod(row[2]));
    }
  }
  return lengths;
}

// One minute of all models; sums in the last place.
struct Minute {
  std::vector<std::int64_t> n = std::vector<std::int64_t>(kModels + 1);
  std::vector<std::int64_t> k = std::vector<std::int64_t>(kModels + 1);

  Minute(Random& random, double share) {
    for (std::size_t i = 0; i < kModels; ++i) {
      const double rate = kRates[i % std::size(kRates)];
      k[i] = random.poisson(rate * share);
      n[i] = random.poisson(rate * (1 - share)) + k[i];
      n.back() += n[i];
      k.back() += k[i];
    }
  }
};

// The rule over the provider with its models, a rule by model, and the classic rule over the sum.
class Provider {
 public:
  Provider() : across_(detector_.start({{"provider", "p"}})) {
    for (int i = 0; i < kModels; ++i) {
      across_->add_member({{"model", std::to_string(i)}});
      alone_.push_back(std::make_unique<SurgeWatch>(by_model_));
    }
  }
  // Of the same memory.
  [[nodiscard]] std::unique_ptr<Provider> copy() const {
    auto other = std::make_unique<Provider>();
    Writer writer;
    across_->save(writer);
    Reader reader(writer.bytes());
    if (!other->across_->load(reader)) std::abort();  // Its own bytes.
    for (std::size_t i = 0; i < alone_.size(); ++i) other->alone_[i] = alone_[i]->copy();
    other->classic_ = classic_;
    other->at_ = at_;
    return other;
  }

  void push(const Minute& minute) {
    std::vector<MemberRun> members;
    for (std::size_t i = 0; i < kModels; ++i) {
      members.push_back({{&minute.n[i], 1}, {&minute.k[i], 1}});
    }
    const Coverage coverage = Coverage::complete;
    across_->advance(
        {at_, minutes(1), {&minute.n.back(), 1}, {&minute.k.back(), 1}, {&coverage, 1}, members},
        0);
    at_ += minutes(1);
    models_paging_ = 0;
    for (std::size_t i = 0; i < kModels; ++i) {
      models_paging_ += alone_[i]->minute(minute.n[i], minute.k[i]) ? 1 : 0;
    }
    classic_paging_ = classic_.minute(minute.n.back(), minute.k.back());
  }
  [[nodiscard]] bool paging() const { return across_->breached(); }
  [[nodiscard]] int models_paging() const { return models_paging_; }
  [[nodiscard]] bool classic_paging() const { return classic_paging_; }

 private:
  static SurgeParams params() {
    SurgeParams params;
    params.across = {"model"};
    return params;
  }
  SurgeDetector detector_{params(), {"requests", "failed", minutes(1)}};
  std::shared_ptr<const SurgeDetector> by_model_ = surge_rule(90 * kDay);
  std::unique_ptr<Fold> across_;
  std::vector<std::unique_ptr<Watch>> alone_;
  ClassicRule classic_;
  Timestamp at_ = kStart;
  int models_paging_ = 0;
  bool classic_paging_ = false;
};

struct Delays {
  double across = INFINITY;
  double first_model = INFINITY;
  double classic = INFINITY;
  double models = 0;  // That paged by themselves before the end.
};

Delays outage(Provider& provider, Random& random, double share, int length) {
  Delays delays;
  int most = 0;
  for (int i = 0; i < kCalm; ++i) provider.push(Minute(random, kNormal));
  for (int i = 1; i <= length; ++i) {
    provider.push(Minute(random, share));
    most = std::max(most, provider.models_paging());
    const auto note = [&](double& delay, bool paging) {
      if (paging && std::isinf(delay)) delay = i;
    };
    note(delays.across, provider.paging());
    note(delays.first_model, provider.models_paging() > 0);
    note(delays.classic, provider.classic_paging());
  }
  delays.models = most;
  return delays;
}

}  // namespace

Problems provider_outage(const std::string& data, int outages) {
  std::vector<double> lengths = incident_minutes(data);
  if (lengths.empty()) return {};
  Provider learned;
  Random random(7);
  for (int i = 0; i < kLearn; ++i) learned.push(Minute(random, kNormal));
  int false_pages = 0;
  {
    const std::unique_ptr<Provider> calm = learned.copy();
    bool before = false;
    for (int i = 0; i < 30 * kDay; ++i) {
      calm->push(Minute(random, kNormal));
      false_pages += calm->paging() && !before ? 1 : 0;
      before = calm->paging();
    }
  }
  for (const double share : {0.05, 0.2, 0.5}) {
    std::vector<double> across;
    std::vector<double> first;
    std::vector<double> classic;
    double models = 0;
    for (int i = 0; i < outages; ++i) {
      Random chance(static_cast<std::uint64_t>(500 + i));
      const auto pick = static_cast<std::size_t>(chance.even() * double(lengths.size()));
      const int length = static_cast<int>(std::min(lengths[pick], double(kDay)));
      const Delays delays = outage(*learned.copy(), chance, share, length);
      across.push_back(delays.across);
      first.push_back(delays.first_model);
      classic.push_back(delays.classic);
      models += delays.models / outages;
    }
    Row("outage")
        .add("share", share)
        .add("false_pages", false_pages)
        .add("models", models)
        .add("across", across)
        .add("first_model", first)
        .add("classic", classic);
  }
  return {};
}

}  // namespace outcomed::bench
