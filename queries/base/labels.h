#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace outcomed {

// A sorted set of name/value pairs that says which model, class or tenant. A label with an empty
// value is the same as no label, as in Prometheus, so set() drops it.
class Labels {
 public:
  using Pair = std::pair<std::string, std::string>;

  Labels() = default;
  Labels(std::initializer_list<Pair> pairs);

  void set(std::string name, std::string value);
  void erase(std::string_view name);
  // Empty where there is no such label.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }

  // Only the labels named in `names`.
  [[nodiscard]] Labels project(const std::vector<std::string>& names) const;

  // Stable across processes and releases: it names rows on disk.
  [[nodiscard]] std::uint64_t fingerprint() const;

  // {error_class="router_refusal", model="judge"} with Prometheus' escapes; "{}" when empty.
  [[nodiscard]] std::string to_string() const;

  friend auto operator<=>(const Labels&, const Labels&) = default;

 private:
  std::vector<Pair> pairs_;
};

struct LabelsHash {
  std::size_t operator()(const Labels& labels) const { return labels.fingerprint(); }
};

}  // namespace outcomed
