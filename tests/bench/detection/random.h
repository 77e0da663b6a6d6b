// Random numbers that are the same on every machine: std::mt19937_64 is fixed by the standard, the
// distributions of the standard library are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace outcomed::bench {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // In [0, 1).
  double even() { return double(engine_() >> 11) * 0x1p-53; }
  // Box and Muller; one of the two numbers is thrown away.
  double normal() { return std::sqrt(-2 * std::log(1 - even())) * std::cos(2 * M_PI * even()); }
  // Failures before the first success.
  std::int64_t geometric(double success) {
    return static_cast<std::int64_t>(std::log(1 - even()) / std::log(1 - success));
  }
  // mean >= 0. Products of even numbers (Knuth) up to a mean of 30; above, PTRS (Hörmann,
  // Insurance: Mathematics and Economics 12, 1993).
  std::int64_t poisson(double mean) {
    if (mean >= 30) return transformed(mean);
    const double stop = std::exp(-mean);
    std::int64_t count = 0;
    for (double left = even(); left > stop; left *= even()) ++count;
    return count;
  }

 private:
  std::int64_t transformed(double mean) {
    const double b = 0.931 + 2.53 * std::sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double often = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
      const double u = even() - 0.5;
      const double v = even();
      const double us = 0.5 - std::abs(u);
      const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
      if (us >= 0.07 && v <= often) return static_cast<std::int64_t>(k);
      if (k < 0 || (us < 0.013 && v > us)) continue;
      int sign = 0;  // Of Γ; lgamma without the global variable.
      if (std::log(v * inverse_alpha / (a / (us * us) + b)) <=
          k * std::log(mean) - mean - ::lgamma_r(k + 1, &sign)) {
        return static_cast<std::int64_t>(k);
      }
    }
  }

  std::mt19937_64 engine_;
};

}  // namespace outcomed::bench
