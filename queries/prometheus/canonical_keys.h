// One series, one key, whichever way it was read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "queries/counters/samples.h"

namespace outcomed {

// Each decoder keys a series by bytes it finds in the answer: JSON text here, protocol buffers
// there. Counting must not take them for two series, so this sink passes on a key made of the
// labels themselves, and remembers which it was.
class CanonicalKeys final : public SampleSink {
 public:
  explicit CanonicalKeys(SampleSink& inner) : inner_(inner) {}

  SeriesId open(std::string_view key, const std::function<Labels()>& labels) override;
  void append(SeriesId series, std::span<const Sample> samples) override {
    inner_.append(series, samples);
  }
  // To be called now and then: forgets keys when most of them were not met since the last call
  // (they are found again when they are met).
  void tidy();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  SampleSink& inner_;
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> fingerprints_;
  std::size_t opened_ = 0;
};

}  // namespace outcomed
