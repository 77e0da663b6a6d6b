// Counts of the steps of the last hour, for sentences, for the end of an alert, and for what the
// classic rule would say.
#pragma once

#include <cstdint>
#include <vector>

#include "queries/base/codec.h"

namespace outcomed {

class HourOfSteps {
 public:
  explicit HourOfSteps(std::size_t steps) : slots_(steps) {}

  struct Sums {
    std::int64_t n = 0;
    std::int64_t k = 0;
  };

  // 0 <= k <= n < 2^32.
  void push(std::int64_t n, std::int64_t k) {
    Slot& oldest = slots_[next_];
    all_.n += n - oldest.n;
    all_.k += k - oldest.k;
    oldest = {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(k)};
    if (++next_ == slots_.size()) next_ = 0;
  }
  [[nodiscard]] Sums all() const { return all_; }
  // Of the newest `steps`.
  [[nodiscard]] Sums last(std::size_t steps) const {
    Sums sums;
    std::size_t at = next_;
    for (std::size_t i = 0; i < steps && i < slots_.size(); ++i) {
      at = (at == 0 ? slots_.size() : at) - 1;
      sums.n += slots_[at].n;
      sums.k += slots_[at].k;
    }
    return sums;
  }

  void save(Writer& writer) const {
    writer.u64(slots_.size());
    writer.u64(next_);
    for (const Slot& slot : slots_) {
      writer.u64(slot.n);
      writer.u64(slot.k);
    }
  }
  bool load(Reader& reader) {
    if (reader.u64() != slots_.size()) return false;
    next_ = reader.u64();
    if (next_ >= slots_.size()) return false;
    all_ = {};
    for (Slot& slot : slots_) {
      slot.n = static_cast<std::uint32_t>(reader.u64());
      slot.k = static_cast<std::uint32_t>(reader.u64());
      all_.n += slot.n;
      all_.k += slot.k;
    }
    return reader.ok();
  }

 private:
  struct Slot {
    std::uint32_t n = 0;
    std::uint32_t k = 0;
  };
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
  Sums all_;
};

}  // namespace outcomed
