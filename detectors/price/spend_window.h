// Sums of several amounts over the last slots of time, exact. Slots lie on a grid of absolute time,
// so the sums don't depend on how the steps came in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "queries/base/codec.h"
#include "queries/prices/money.h"

namespace outcomed {

class SpendWindow {
 public:
  SpendWindow(std::size_t slots, std::size_t columns)
      : slots_(slots), columns_(columns), sums_(columns, 0) {}

  // The slot that amounts are added to from now on; those that fell out of the window are
  // forgotten. Slots count from the epoch and never go back.
  void move_to(std::int64_t slot) {
    if (slot <= newest_) return;
    if (amounts_.empty()) {
      newest_ = slot;
      return;
    }
    const auto passed = std::min<std::int64_t>(slot - newest_, static_cast<std::int64_t>(slots_));
    for (std::int64_t i = 1; i <= passed; ++i) forget(slot - passed + i);
    newest_ = slot;
  }
  void add(std::size_t column, std::int64_t amount) {
    if (amounts_.empty()) amounts_.resize(slots_ * columns_, 0);
    std::int64_t& cell = amounts_[row(newest_) + column];
    const std::int64_t before = cell;
    cell = held(add_held(cell, amount));
    sums_[column] += cell - before;
  }
  [[nodiscard]] std::int64_t sum(std::size_t column) const { return sums_[column]; }
  [[nodiscard]] std::int64_t newest() const { return newest_; }
  [[nodiscard]] std::size_t slots() const { return slots_; }
  // Of the slot that lies `back` before the newest; back < slots().
  [[nodiscard]] std::int64_t at(std::size_t back, std::size_t column) const {
    if (amounts_.empty()) return 0;
    return amounts_[row(newest_ - static_cast<std::int64_t>(back)) + column];
  }
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(sums_, [](std::int64_t sum) { return sum == 0; });
  }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  // So that the sum of all slots is in range.
  [[nodiscard]] std::int64_t held(std::int64_t amount) const {
    const std::int64_t most =
        std::numeric_limits<std::int64_t>::max() / (static_cast<std::int64_t>(slots_) + 1);
    return std::clamp(amount, -most, most);
  }
  [[nodiscard]] std::size_t row(std::int64_t slot) const {
    const auto size = static_cast<std::int64_t>(slots_);
    return static_cast<std::size_t>((slot % size + size) % size) * columns_;
  }
  void forget(std::int64_t slot) {
    const std::size_t first = row(slot);
    for (std::size_t i = 0; i < columns_; ++i) {
      sums_[i] -= amounts_[first + i];
      amounts_[first + i] = 0;
    }
  }

  std::size_t slots_;
  std::size_t columns_;
  std::int64_t newest_ = 0;
  std::vector<std::int64_t> amounts_;  // By slot, then column; none before the first amount.
  std::vector<std::int64_t> sums_;
};

}  // namespace outcomed
