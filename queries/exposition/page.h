// What a source takes from a metrics page: which names, under which target.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/matcher.h"
#include "queries/exposition/text_format.h"

namespace outcomed {

// Names of the counters asked for, of the gauges that hold their births (`_created`), and
// process_start_time_seconds.
class WantedNames {
 public:
  explicit WantedNames(const std::vector<Selector>& selectors);
  [[nodiscard]] bool contains(std::string_view name) const { return names_.contains(name); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> names_;
};

// The labels that a scrape adds. A page's own `job` and `instance` are kept as `exported_job` and
// `exported_instance`, as Prometheus does.
struct PageTarget {
  std::string job;
  std::string instance;

  [[nodiscard]] Labels labels_of(const TextSample& sample) const;
  // Of the series `up` that says of each page that it was read.
  [[nodiscard]] Labels up() const;
};

}  // namespace outcomed
