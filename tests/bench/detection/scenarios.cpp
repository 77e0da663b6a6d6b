#include "scenarios.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

namespace outcomed::bench {
namespace {

double deviation(std::string_view baseline) {
  if (baseline == "wobble_.3") return 0.3;
  if (baseline == "wobble_.5" || baseline == "bursts") return 0.5;
  return 0;
}

// The last cell of each line that begins with `prefix`, each `repeat` times, as parts of their
// mean.
std::vector<double> read_volumes(const std::string& path, const std::string& prefix, int repeat) {
  std::ifstream file(path);
  std::vector<double> volumes;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    if (!line.starts_with(prefix)) continue;
    volumes.insert(volumes.end(), static_cast<std::size_t>(repeat),
                   std::stod(line.substr(line.rfind(',') + 1)));
  }
  const double sum = std::accumulate(volumes.begin(), volumes.end(), 0.0);
  for (double& volume : volumes) volume *= double(volumes.size()) / sum;
  return volumes;
}

}  // namespace

std::vector<std::vector<std::string>> read_csv(const std::string& path) {
  std::ifstream file(path);
  if (!file) fmt::print(stderr, "detection_bench: no {}: its part is left out\n", path);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

std::vector<double> azure_volumes(const std::string& data) {
  return read_volumes(data + "/azure_llm_arrivals_per_min.csv", "conv,", 1);
}

std::vector<double> ragpulse_volumes(const std::string& data) {
  return read_volumes(data + "/ragpulse_arrivals_per_hour.csv", "", 60);
}

double SeriesMaker::normal_share() {
  const double sd = deviation(traffic_.baseline);
  if (sd > 0 && minute_ % 60 == 0) {
    log_ = 0.8 * log_ + 0.6 * sd * random_.normal();
    factor_ = std::exp(log_ - sd * sd / 2);
  }
  return std::min(0.95, traffic_.share * factor_);
}

std::int64_t SeriesMaker::burst() {
  if (traffic_.baseline != "bursts" || random_.even() >= 0.002) return 0;
  return 2 + random_.geometric(0.2);
}

// Failed and good requests of a minute are independent Poisson numbers: the same law as a Poisson
// number of requests of which each fails with the share.
void SeriesMaker::add(Counts& counts, double share) {
  double rate = traffic_.rate;
  if (!volumes_.empty()) rate *= volumes_[static_cast<std::size_t>(minute_) % volumes_.size()];
  const std::int64_t bad = random_.poisson(rate * share);
  const std::int64_t good = random_.poisson(rate * (1 - share));
  counts.add(good, bad + burst());
  ++minute_;
}

Counts SeriesMaker::take(int minutes) {
  Counts counts;
  for (int i = 0; i < minutes; ++i) add(counts, normal_share());
  return counts;
}

Counts SeriesMaker::take(int minutes, double share) {
  Counts counts;
  for (int i = 0; i < minutes; ++i) add(counts, share);
  return counts;
}

Counts SeriesMaker::ramp(int minutes, double share) {
  Counts counts;
  for (int i = 0; i < minutes; ++i) {
    const double normal = normal_share();
    add(counts, normal + (share - normal) * double(i + 1) / double(minutes));
  }
  return counts;
}

}  // namespace outcomed::bench
