// The traffic that all detectors of the bench are run on: minutes of one series, seeded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"

namespace outcomed::bench {

inline constexpr int kDay = 1440;

struct Counts {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;  // Failed, of n.

  [[nodiscard]] int size() const { return static_cast<int>(n.size()); }
  void add(std::int64_t good, std::int64_t bad) {
    n.push_back(good + bad);
    k.push_back(bad);
  }
};

// What is normal. iid: every request fails with the same share. wobble_.3, wobble_.5: the log of
// the share is an AR(1) of hours (0.8, that deviation). bursts: wobble_.5, and in 2 minutes of 1000
// one client whose 2 + Geom(0.2) requests all fail. azure, ragpulse: iid shares, with the volume of
// the recorded minutes (hours) of these services in a loop.
struct Traffic {
  std::string_view baseline;
  double rate = 20;  // Requests a minute, on average.
  double share = 0.01;
};

// The cells of a file without its header; none, and a word on standard error, when it isn't there.
std::vector<std::vector<std::string>> read_csv(const std::string& path);

// Relative volumes by minute, mean 1; empty when the file isn't there.
std::vector<double> azure_volumes(const std::string& data);
std::vector<double> ragpulse_volumes(const std::string& data);

// One series. `volumes`: of its minutes, in a loop; empty: all the same.
class SeriesMaker {
 public:
  SeriesMaker(Traffic traffic, std::uint64_t seed, std::vector<double> volumes = {})
      : traffic_(traffic), random_(seed), volumes_(std::move(volumes)) {}

  // What comes next as another chance would have it.
  [[nodiscard]] SeriesMaker continued(std::uint64_t seed) const {
    SeriesMaker other = *this;
    other.random_ = Random(seed);
    return other;
  }
  // The next minutes, normal.
  Counts take(int minutes);
  // The next minutes, while a share of `share` fails whatever is normal; bursts go on.
  Counts take(int minutes, double share);
  // The share moves evenly from normal to `share`.
  Counts ramp(int minutes, double share);

 private:
  void add(Counts& counts, double share);
  double normal_share();
  std::int64_t burst();

  Traffic traffic_;
  Random random_;
  std::vector<double> volumes_;
  std::int64_t minute_ = 0;
  double log_ = 0;
  double factor_ = 1;
};

}  // namespace outcomed::bench
