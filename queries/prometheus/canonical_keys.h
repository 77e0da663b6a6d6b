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
// labels themselves, and remembers which id it got. `inner` gives one key the same id for ever.
class CanonicalKeys final : public SampleSink {
 public:
  explicit CanonicalKeys(SampleSink& inner) : inner_(inner) {}

  SeriesId open(std::string_view key, const std::function<Labels()>& labels) override;
  void append(SeriesId series, std::span<const Sample> samples) override {
    inner_.append(series, samples);
  }
  // To be called now and then: forgets keys when many of them were not met since the last call
  // (they are found again when they are met).
  void tidy();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  struct Known {
    SeriesId id = 0;
    // The one that came next in the last answer: servers keep their order, so that it is mostly
    // found without looking it up.
    std::pair<const std::string, Known>* next = nullptr;
  };
  using Keys = std::unordered_map<std::string, Known, Hash, std::equal_to<>>;

  SampleSink& inner_;
  Keys keys_;
  Keys::value_type* last_ = nullptr;
  std::size_t opened_ = 0;
};

}  // namespace outcomed
