#include "rules.h"

#include <algorithm>

namespace outcomed::bench {

void WindowSums::push(std::int64_t n, std::int64_t k) {
  all_n_ += n - n_[next_];
  all_k_ += k - k_[next_];
  n_[next_] = n;
  k_[next_] = k;
  if (++next_ == n_.size()) next_ = 0;
}

bool ClassicRule::minute(std::int64_t n, std::int64_t k) {
  hour_.push(n, k);
  minutes_ = hour_.share() > 0.1 ? minutes_ + 1 : 0;
  return minutes_ > 15;
}

bool BurnRateRule::minute(std::int64_t n, std::int64_t k) {
  constexpr double kBudget = 0.01;
  for (WindowSums& window : windows_) window.push(n, k);
  const auto burns = [&](std::size_t i, double times) {
    return windows_[i].share() > times * kBudget;
  };
  return (burns(0, 14.4) && burns(1, 14.4)) || (burns(2, 6) && burns(3, 6));
}

double GrafanaBands::Ring::push(double value) {
  const double oldest = values_[next_];
  values_[next_] = value;
  if (++next_ == values_.size()) next_ = 0;
  return oldest;
}

double GrafanaBands::upper_band(double mean) const {
  double band = 1.5 * mean;
  if (deviation_count_ > 0) band = std::max(band, mean + 2 * deviation_sum_ / deviation_count_);
  for (const std::size_t offset : {std::size_t{1410}, std::size_t{10'050}}) {
    const double past = bands_.back(offset);
    if (!std::isnan(past)) band = std::max(band, past);
  }
  return band;
}

bool GrafanaBands::minute(std::int64_t n, std::int64_t k) {
  level_.push(n, k);
  const double level = level_.share() > 0 ? level_.share() : kNone;
  const double left = levels_.push(level);
  for (const auto& [value, sign] : {std::pair{level, 1}, std::pair{left, -1}}) {
    if (std::isnan(value)) continue;
    sum_ += sign * value;
    squares_ += sign * value * value;
    count_ += sign;
  }
  const double mean = count_ > 0 ? sum_ / count_ : kNone;
  const double deviation =
      count_ > 0 ? std::sqrt(std::max(0.0, squares_ / count_ - mean * mean)) : kNone;
  const double counted = deviation > 0.5 * mean ? deviation : kNone;
  const double left_deviation = deviations_.push(counted);
  for (const auto& [value, sign] : {std::pair{counted, 1}, std::pair{left_deviation, -1}}) {
    if (std::isnan(value)) continue;
    deviation_sum_ += sign * value;
    deviation_count_ += sign;
  }
  bands_.push(mean + 2 * deviation);
  minutes_ = !std::isnan(level) && level > upper_band(mean) ? minutes_ + 1 : 0;
  return minutes_ > 5;
}

bool OracleCusum::minute(std::int64_t n, std::int64_t k) {
  sum_ = std::max(0.0, sum_) + double(k) * bad_ + double(n - k) * good_;
  if (sum_ < h_) return false;
  sum_ = 0;
  return true;
}

double oracle_threshold(double rate, double normal, double changed, double minutes, int simulated) {
  constexpr std::size_t kPeaks = 400;  // The frequency is known to a twentieth.
  SeriesMaker maker({"iid", rate, normal}, 77);
  const double bad = std::log(changed / normal);
  const double good = std::log((1 - changed) / (1 - normal));
  std::vector<double> peaks;
  double sum = 0;
  double peak = 0;
  for (int done = 0; done < simulated; done += kDay) {
    const Counts counts = maker.take(kDay);
    for (int i = 0; i < kDay; ++i) {
      const auto at = static_cast<std::size_t>(i);
      sum += double(counts.k[at]) * bad + double(counts.n[at] - counts.k[at]) * good;
      peak = std::max(peak, sum);
      if (sum > 0) continue;
      if (peak > 0) peaks.push_back(peak);
      sum = peak = 0;
    }
  }
  if (peaks.empty()) return std::log(minutes);
  const std::size_t kept = std::min(kPeaks, peaks.size());
  std::ranges::nth_element(peaks, peaks.begin() + std::ptrdiff_t(kept - 1), std::greater<>());
  return peaks[kept - 1] + std::log(minutes * double(kept) / simulated);
}

}  // namespace outcomed::bench
