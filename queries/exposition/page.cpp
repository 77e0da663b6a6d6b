#include "queries/exposition/page.h"

#include "queries/counters/counter_reader.h"

namespace outcomed {
namespace {

// "x_total" and "x_count" -> "x_created".
std::string created_name(std::string_view metric) {
  for (const std::string_view suffix : {"_total", "_count"}) {
    if (metric.ends_with(suffix)) {
      metric.remove_suffix(suffix.size());
      break;
    }
  }
  return std::string(metric) + "_created";
}

}  // namespace

WantedNames::WantedNames(const std::vector<Selector>& selectors) {
  names_.insert("process_start_time_seconds");
  for (const Selector& selector : selectors) {
    names_.insert(selector.metric);
    names_.insert(created_name(selector.metric));
  }
}

Labels PageTarget::labels_of(const TextSample& sample) const {
  Labels labels = sample.labels();
  for (const auto& [name, value] :
       {std::pair<std::string, const std::string&>("job", job),
        std::pair<std::string, const std::string&>("instance", instance)}) {
    labels.set("exported_" + name, std::string(labels.get(name)));
    labels.set(name, value);
  }
  return labels;
}

Labels PageTarget::up() const {
  Labels labels{{"__name__", std::string(kUpMetric)}};
  labels.set("job", job);
  labels.set("instance", instance);
  return labels;
}

}  // namespace outcomed
