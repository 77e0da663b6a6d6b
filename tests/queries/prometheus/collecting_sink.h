// What a decoder delivered, by key.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "queries/counters/samples.h"

namespace outcomed {

class CollectingSink final : public SampleSink {
 public:
  struct Series {
    std::string key;
    Labels labels;
    std::vector<Sample> samples;
  };

  SeriesId open(std::string_view key, const std::function<Labels()>& labels) override {
    ++opened;
    const auto [found, fresh] =
        ids_.try_emplace(std::string(key), static_cast<SeriesId>(series.size()));
    if (fresh) {
      ++asked_for_labels;
      series.push_back({std::string(key), labels(), {}});
    }
    return found->second;
  }
  void append(SeriesId id, std::span<const Sample> samples) override {
    auto& all = series.at(id).samples;
    all.insert(all.end(), samples.begin(), samples.end());
  }
  // Samples by label set; text makes differences readable and NaN comparable.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> by_labels() const {
    std::map<std::string, std::vector<std::string>> all;
    for (const Series& one : series) {
      auto& texts = all[one.labels.to_string()];
      for (const Sample& sample : one.samples) texts.push_back(text(sample));
    }
    return all;
  }
  static std::string text(const Sample& sample) {
    std::string value = std::isnan(sample.value) ? "stale" : std::to_string(sample.value);
    return std::to_string(sample.at_ms) + '=' + value;
  }
  [[nodiscard]] std::size_t sample_count() const {
    std::size_t count = 0;
    for (const Series& one : series) count += one.samples.size();
    return count;
  }

  std::vector<Series> series;
  int opened = 0;
  int asked_for_labels = 0;

 private:
  std::map<std::string, SeriesId, std::less<>> ids_;
};

}  // namespace outcomed
