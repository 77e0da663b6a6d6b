#include "detectors/price/spend_window.h"

namespace outcomed {

void SpendWindow::save(Writer& writer) const {
  writer.u64(slots_);
  writer.u64(columns_);
  writer.i64(newest_);
  writer.u64(amounts_.empty() ? 0 : 1);
  for (const std::int64_t amount : amounts_) writer.i64(amount);
}

bool SpendWindow::load(Reader& reader) {
  if (reader.u64() != slots_ || reader.u64() != columns_) return false;
  newest_ = reader.i64();
  std::ranges::fill(sums_, 0);
  amounts_.clear();
  if (reader.u64() == 0) return reader.ok();
  amounts_.resize(slots_ * columns_, 0);
  for (std::size_t i = 0; i < amounts_.size(); ++i) {
    amounts_[i] = held(reader.i64());
    sums_[i % columns_] += amounts_[i];
  }
  return reader.ok();
}

}  // namespace outcomed
