#include "daemon/config/shapes.h"

#include "daemon/config/config.h"

namespace outcomed {
namespace {

constexpr auto kShape = SettingRecorder::Mode::shape;

template <class Entry>
std::vector<KindShape> plugin_shapes(std::span<const Entry> catalog) {
  std::vector<KindShape> shapes;
  for (const Entry& entry : catalog) {
    shapes.push_back(
        {std::string(entry.kind), std::string(entry.summary), settings_of(*entry.make(), kShape)});
  }
  return shapes;
}

// `delay` is every source's, but its default is the kind's.
std::vector<KindShape> source_shapes(std::span<const SourceEntry> catalog) {
  std::vector<KindShape> shapes = plugin_shapes(catalog);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    SourceConfig source;
    source.delay = catalog[i].delay;
    for (Setting& setting : settings_of(source, kShape)) {
      if (setting.name == "delay") {
        shapes[i].settings.insert(shapes[i].settings.begin(), std::move(setting));
      }
    }
  }
  return shapes;
}

std::vector<KindShape> detector_shapes(std::span<const DetectorEntry> catalog) {
  std::vector<KindShape> shapes;
  for (const DetectorEntry& entry : catalog) {
    SettingRecorder recorder(kShape);
    entry.make(recorder, SignalWords{});
    shapes.push_back({std::string(entry.kind), std::string(entry.summary), recorder.take()});
  }
  return shapes;
}

template <class Params>
std::vector<Setting> shape_of(Params params = {}) {
  return settings_of(params, kShape);
}

std::vector<Setting> route_shape() {
  Route route;
  SettingRecorder recorder(kShape);
  visit_route(route, recorder);
  return recorder.take();
}

}  // namespace

ConfigShape config_shape(const Catalogs& catalogs) {
  ConfigShape shape;
  shape.source = shape_of<SourceConfig>();
  std::erase_if(shape.source, [](const Setting& setting) { return setting.name == "delay"; });
  shape.sources = source_shapes(catalogs.sources);
  shape.litellm = shape_of<LitellmPreset>();
  shape.signal = shape_of<SignalSettings>();
  shape.rule = shape_of<RuleConfig>();
  shape.rules = detector_shapes(catalogs.detectors);
  shape.receivers = plugin_shapes(catalogs.receivers);
  shape.route = route_shape();
  shape.store = shape_of<StoreConfig>();
  shape.http = shape_of<HttpConfig>();
  shape.price_table = shape_of<PriceTableSettings>();
  shape.priced_model = shape_of<PricedModelSettings>();
  shape.heartbeat = shape_of<HeartbeatConfig>();
  return shape;
}

}  // namespace outcomed
