#include "daemon/engine/bucket_codec.h"

#include <algorithm>

namespace outcomed {

BucketRow pack(const SignalBatch& batch, std::size_t step, const std::string& signal) {
  const std::size_t steps = batch.steps();
  const std::size_t cells = batch.n.size() / steps;
  Writer body;
  std::uint64_t count = 0;
  std::size_t previous = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::int64_t n = batch.n[cell * steps + step];
    const std::int64_t k = batch.k[cell * steps + step];
    if (n == 0 && k == 0) continue;
    body.u64(cell - previous);
    body.i64(n);
    body.i64(k);
    previous = cell;
    ++count;
  }
  Writer head;
  head.u64(count);
  return {signal, batch.range.begin + batch.step * static_cast<std::int64_t>(step), batch.step,
          static_cast<std::uint8_t>(batch.coverage[step]), head.bytes() + body.bytes()};
}

bool unpack(const BucketRow& row, std::size_t cells, SignalBatch& batch) {
  batch.range = {row.start, row.start + row.length};
  batch.step = row.length;
  batch.coverage = {static_cast<Coverage>(std::min<std::uint8_t>(row.coverage, 3))};
  batch.n.assign(cells, 0);
  batch.k.assign(cells, 0);
  Reader reader(row.cells);
  std::uint64_t cell = 0;
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    cell += reader.u64();
    if (cell >= cells) return false;
    batch.n[cell] = reader.i64();
    batch.k[cell] = reader.i64();
  }
  return reader.at_end();
}

}  // namespace outcomed
