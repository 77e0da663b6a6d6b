// Sums of k and n over the last steps, exact, in constant time for each step.
#pragma once

#include <cstdint>
#include <vector>

#include "queries/base/codec.h"

namespace outcomed {

class ShareWindow {
 public:
  explicit ShareWindow(std::size_t steps) : limit_(steps) {}

  void push(std::int64_t n, std::int64_t k) {
    if (slots_.size() < limit_) {
      slots_.push_back({n, k});
    } else {
      Slot& oldest = slots_[next_];
      n_ -= oldest.n;
      k_ -= oldest.k;
      oldest = {n, k};
    }
    if (++next_ == limit_) next_ = 0;
    n_ += n;
    k_ += k;
  }

  // The slot that the next push() takes.
  void prefetch() const { __builtin_prefetch(slots_.data() + next_, 1); }

  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] std::int64_t k() const { return k_; }
  [[nodiscard]] std::size_t filled() const { return slots_.size(); }

  struct Slot {
    std::int64_t n = 0;
    std::int64_t k = 0;
  };
  // The step that lies `back` steps before the newest (0); back < filled().
  [[nodiscard]] const Slot& slot(std::size_t back) const {
    const std::size_t newest = (next_ + slots_.size() - 1) % slots_.size();
    return slots_[(newest + slots_.size() - back) % slots_.size()];
  }

  void save(Writer& writer) const {
    writer.u64(slots_.size());
    writer.u64(next_);
    for (const Slot& slot : slots_) {
      writer.i64(slot.n);
      writer.i64(slot.k);
    }
  }
  bool load(Reader& reader) {
    const std::uint64_t size = reader.u64();
    next_ = reader.u64();
    if (size > limit_ || next_ >= limit_) return false;
    slots_.clear();
    n_ = k_ = 0;
    for (std::uint64_t i = 0; i < size && reader.ok(); ++i) {
      Slot slot;
      slot.n = reader.i64();
      slot.k = reader.i64();
      n_ += slot.n;
      k_ += slot.k;
      slots_.push_back(slot);
    }
    return reader.ok();
  }

 private:
  std::size_t limit_;
  std::size_t next_ = 0;
  std::int64_t n_ = 0;
  std::int64_t k_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace outcomed
