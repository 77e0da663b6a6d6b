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
  shape.sources = plugin_shapes(catalogs.sources);
  shape.litellm = shape_of<LitellmPreset>();
  shape.signal = shape_of<SignalSettings>();
  shape.rule = shape_of<RuleConfig>();
  shape.rules = detector_shapes(catalogs.detectors);
  shape.receivers = plugin_shapes(catalogs.receivers);
  shape.route = route_shape();
  shape.store = shape_of<StoreConfig>();
  shape.http = shape_of<HttpConfig>();
  return shape;
}

}  // namespace outcomed
