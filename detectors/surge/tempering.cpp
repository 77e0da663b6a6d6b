#include "detectors/surge/tempering.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace outcomed {
namespace {

// The grid is made of powers of e^(x / 20).
constexpr double kUnit = 0.05;
constexpr std::uint32_t kHalfBits = 16;
constexpr std::int64_t kRises = 12;  // Steps that gamma may rise within the days it remembers.
constexpr double kLowest = -12;      // Less evidence than this is as good: keeps floats normal.

}  // namespace

std::array<Tempering::Row, Tempering::kGrid> Tempering::zeros() {
  std::array<Row, kGrid> rows;
  rows.fill(Row::Zero());
  return rows;
}

void Tempering::set_level(double level) {
  level_ = static_cast<float>(level);
  const double log_level = std::log(std::max(level, 2.0));
  cap_.head<kSurgeHalf>().setConstant(static_cast<float>(kUnit * log_level / 3));
  cap_.tail<RateFilter::kAlternatives>().setConstant(static_cast<float>(kUnit * log_level / 2));
}

void Tempering::push(const SurgeLanes& x, bool open) {
  const Row e1 = (kUnit * x.max(kLowest)).cast<float>().min(cap_).exp();
  const Row e2 = e1 * e1;
  const Row e3 = e2 * e1;
  const Row e4 = e2 * e2;
  const Row e6 = e3 * e3;
  const Row e8 = e4 * e4;
  const Row e10 = e6 * e4;
  const Row e14 = e10 * e4;
  Row top = Row::Zero();
  const auto step = [&](std::size_t i, const Row& factor) {
    sums_[i] = (sums_[i] + 1) * factor;
    top = top.max(sums_[i]);
  };
  step(0, e10 * e10);
  step(1, e14 * e3);
  step(2, e14);
  step(3, e6 * e6);
  step(4, e10);
  step(5, e8);
  step(6, e6);
  step(7, e4);
  step(8, e3);
  step(9, e2);
  // A mean reaches the level only if one of its parts does.
  if (top.maxCoeff() >= level_) note(level_);
  if (reached_now_ == 0) return;
  waiting_ |= reached_now_;
  reached_now_ = 0;
  if (!open) release();
}

void Tempering::note(float level) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    auto fixed = sums_[i].head<kSurgeStatic>();
    auto moving = sums_[i].tail<RateFilter::kAlternatives>();
    if (static_evidence(sums_[i]) >= level) {
      reached_now_ |= 1U << i;
      fixed.setZero();
    }
    if (filter_evidence(sums_[i]) >= level) {
      reached_now_ |= 1U << (i + kHalfBits);
      moving.setZero();
    }
  }
}

void Tempering::turn(std::int64_t day) {
  if (day <= day_) return;
  const auto size = static_cast<std::int64_t>(days_.size());
  for (std::int64_t i = std::max(day_ + 1, day - size + 1); i <= day; ++i) {
    days_[static_cast<std::size_t>(i) % days_.size()] = {};
  }
  if (day_ < 0) raised_ = day;
  day_ = day;
  fall();
  if (day - raised_ < std::max<std::int64_t>(1, size / kRises)) return;
  raised_ = day;
  const Places most = allowed();
  static_ = std::max(most.fixed, static_ - 1);
  filter_ = std::max(most.moving, filter_ - 1);
}

void Tempering::release() {
  if (waiting_ == 0 || day_ < 0) return;
  days_[static_cast<std::size_t>(day_) % days_.size()].reached |= waiting_;
  waiting_ = 0;
  fall();
}

void Tempering::bar(Incident incident) {
  if (incident != Incident::real && day_ >= 0) {
    Day& today = days_[static_cast<std::size_t>(day_) % days_.size()];
    today.habit |= waiting_;
    today.incidents += incident == Incident::mild ? kHabit : 1;
    fall();
  }
  waiting_ = 0;
  restart();
}

void Tempering::restart() { sums_ = zeros(); }

Tempering::Places Tempering::allowed() const {
  std::uint32_t reached = 0;
  std::uint32_t habit = 0;
  std::uint32_t incidents = 0;
  for (const Day& day : days_) {
    reached |= day.reached;
    habit |= day.habit;
    incidents += day.incidents;
  }
  if (incidents >= kHabit) reached |= habit;
  const auto first_free = [](std::uint32_t bits) {
    return std::min(std::countr_one(bits & 0xffffU), kGrid - 1);
  };
  return {first_free(reached), first_free(reached >> kHalfBits)};
}

void Tempering::fall() {
  const Places most = allowed();
  static_ = std::max(static_, most.fixed);
  filter_ = std::max(filter_, most.moving);
}

void Tempering::save(Writer& writer) const {
  for (const Row& row : sums_) {
    for (int i = 0; i < kSurgeLanes; ++i) writer.u64(std::bit_cast<std::uint32_t>(row(i)));
  }
  writer.u64(waiting_);
  writer.u64(days_.size());
  for (const Day& day : days_) {
    writer.u64(day.reached);
    writer.u64(day.habit);
    writer.u64(day.incidents);
  }
  for (const std::int64_t each : {day_, raised_, std::int64_t{static_}, std::int64_t{filter_}}) {
    writer.i64(each);
  }
}

bool Tempering::load(Reader& reader) {
  for (Row& row : sums_) {
    for (int i = 0; i < kSurgeLanes; ++i) {
      row(i) = std::bit_cast<float>(static_cast<std::uint32_t>(reader.u64()));
    }
  }
  waiting_ = static_cast<std::uint32_t>(reader.u64());
  if (reader.u64() != days_.size()) return false;
  for (Day& day : days_) {
    day.reached = static_cast<std::uint32_t>(reader.u64());
    day.habit = static_cast<std::uint32_t>(reader.u64());
    day.incidents = static_cast<std::uint32_t>(reader.u64());
  }
  day_ = reader.i64();
  raised_ = reader.i64();
  static_ = static_cast<int>(std::clamp<std::int64_t>(reader.i64(), 0, kGrid - 1));
  filter_ = static_cast<int>(std::clamp<std::int64_t>(reader.i64(), 0, kGrid - 1));
  return reader.ok() && day_ >= -1;
}

}  // namespace outcomed
