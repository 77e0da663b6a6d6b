// The samples of many counters in a few bytes each, written once and read forward in time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "queries/counters/samples.h"

namespace outcomed {

// A column of samples: time as difference of differences, whole values as differences, both as
// varints; a steady counter takes two or three bytes a sample. Exact: what goes in comes out.
class SampleColumn {
 public:
  void add(const Sample& sample);
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  // False once a sample came that was older than the one before.
  [[nodiscard]] bool ascending() const { return ascending_; }
  [[nodiscard]] const Sample& last() const { return tail_.sample; }
  // Puts the samples into time order; of several with one time the first stays.
  void sort();
  void shrink() { bytes_.shrink_to_fit(); }

  struct State {
    Sample sample;
    std::int64_t step = 0;
  };
  // Where a reader stands; a fresh one stands at the front.
  struct Cursor {
    std::size_t position = 0;
    State state;
  };
  // The next sample; false at the end.
  bool next(Cursor& cursor, Sample& sample) const;

 private:
  std::string bytes_;
  State tail_;
  bool ascending_ = true;
};

}  // namespace outcomed
