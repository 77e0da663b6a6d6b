// How much the evidence of a series may count: the gamma of each of the two detectors.
//
// Every log evidence is multiplied by gamma <= 1: E[e^(gamma x)] <= E[e^x]^gamma <= 1, so nothing
// is lost in validity, and a series whose failures come in clumps that no model knows pays with
// delay instead of pages. gamma is the largest of the grid with which the detector, run over the
// learning window without incidents, never reached 1.5 · (steps of the window). All of the grid
// runs beside the live detector; which of it reached the level on which day is all that is kept.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "detectors/surge/rate_filter.h"
#include "queries/base/codec.h"

namespace outcomed {

// Log evidence of one step: the alternatives of the static detector, one lane of nothing, those
// of the filter.
inline constexpr int kSurgeStatic = 5;
inline constexpr int kSurgeHalf = 6;
inline constexpr int kSurgeLanes = kSurgeHalf + RateFilter::kAlternatives;
using SurgeLanes = Eigen::Array<double, kSurgeLanes, 1>;
inline constexpr double kNoLane = -8;  // What an idle lane holds: its sums stay small.

// Sums of the lanes to the evidence of each detector: means, weighted by what is the harder to
// find, a rise to just above normal.
template <typename Lanes>
auto static_evidence(const Lanes& sums) {
  using Scalar = typename Lanes::Scalar;
  constexpr auto kFirst = Scalar(0.4);
  constexpr auto kOther = (1 - kFirst) / Scalar(kSurgeStatic - 1);
  return kFirst * sums(0) + kOther * sums.template segment<kSurgeStatic - 1>(1).sum();
}
template <typename Lanes>
auto filter_evidence(const Lanes& sums) {
  return sums.template tail<RateFilter::kAlternatives>().mean();
}

class Tempering {
 public:
  static constexpr int kGrid = 10;
  static constexpr std::array<double, kGrid> kGammas{1,   0.85, 0.7, 0.6,  0.5,
                                                     0.4, 0.3,  0.2, 0.15, 0.1};
  static constexpr int kFirst = 4;
  // An incident teaches nothing; a mild one is the series' habit; one between them is when it was
  // not the only one of the window.
  enum class Incident : std::uint8_t { real, small, mild };
  static constexpr std::uint32_t kHabit = 2;

  explicit Tempering(std::size_t days) : days_(days) {}

  // The level that counts as an alarm: 1.5 · steps of the window.
  void set_level(double level);
  // A step; `open`: it may belong to an incident, so what it shows waits.
  void push(const SurgeLanes& x, bool open);
  // Midnight, or any time: days before `day` - size are forgotten.
  void turn(std::int64_t day);
  // What waited was nothing, or an incident.
  void release();
  void bar(Incident incident);
  void restart();  // All sums from zero.

  [[nodiscard]] double of_static() const { return kGammas[static_cast<std::size_t>(static_)]; }
  [[nodiscard]] double of_filter() const { return kGammas[static_cast<std::size_t>(filter_)]; }
  // What is remembered asks for a weight below 1; otherwise it is only on its way there.
  [[nodiscard]] bool clumpy_static() const { return allowed().fixed > 0; }
  [[nodiscard]] bool clumpy_filter() const { return allowed().moving > 0; }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  using Row = Eigen::Array<float, kSurgeLanes, 1>;
  // Bit i: gamma number i reached the level; static in the low half, filter in the high one.
  struct Day {
    std::uint32_t reached = 0;
    std::uint32_t habit = 0;
    std::uint32_t incidents = 0;  // Small ones; mild ones count as kHabit.
  };

  void note(float level);
  struct Places {
    int fixed = 0;
    int moving = 0;
  };
  [[nodiscard]] Places allowed() const;
  void fall();

  std::array<Row, kGrid> sums_ = zeros();
  static std::array<Row, kGrid> zeros();
  float level_ = 1e30F;
  Row cap_ = Row::Zero();
  std::uint32_t waiting_ = 0;
  std::uint32_t reached_now_ = 0;
  std::vector<Day> days_;
  std::int64_t day_ = -1;
  std::int64_t raised_ = -1;  // The day of the last rise.
  int static_ = kFirst;
  int filter_ = kFirst;
};

}  // namespace outcomed
