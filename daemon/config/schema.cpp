#include "daemon/config/schema.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "daemon/config/shapes.h"

namespace outcomed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDurationPattern =
    "^(0|(?=[0-9])([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$";

Json text_schema() { return {{"type", {"string", "number", "boolean"}}}; }
Json pattern(std::string_view regex) { return {{"type", "string"}, {"pattern", regex}}; }
Json list_of(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }

Json count_schema(const Bounds& bounds) {
  Json schema = {{"type", "integer"}};
  if (std::isfinite(bounds.min)) schema["minimum"] = static_cast<std::int64_t>(bounds.min);
  if (std::isfinite(bounds.max)) schema["maximum"] = static_cast<std::int64_t>(bounds.max);
  return schema;
}

Json value_schema(const Setting& setting) {
  switch (setting.kind) {
    case Setting::Kind::flag:
      return {{"type", "boolean"}};
    case Setting::Kind::count:
      return count_schema(setting.bounds);
    case Setting::Kind::size:
      return pattern("^[0-9]+(B|KiB|MiB|GiB|TiB)$");
    case Setting::Kind::duration:
      return {{"anyOf", Json::array({Json{{"const", 0}}, pattern(kDurationPattern)})}};
    case Setting::Kind::share:
      return {{"anyOf", Json::array({Json{{"type", "number"}, {"minimum", 0}, {"maximum", 1}},
                                     pattern("^([0-9]+([.][0-9]+)?%|[01]([.][0-9]+)?)$")})}};
    case Setting::Kind::text:
      return text_schema();
    case Setting::Kind::path:
      return {{"type", "string"}, {"minLength", 1}};
    case Setting::Kind::text_list:
      return list_of(text_schema());
    case Setting::Kind::url:
      return pattern("^https?://");
    case Setting::Kind::url_list:
      return list_of(pattern("^https?://"));
    case Setting::Kind::secret:
      return pattern("^(file|env|cred):.+");
    case Setting::Kind::matchers:
      return list_of({{"type", "string"}});
    case Setting::Kind::labels:
      return {{"type", "object"},
              {"propertyNames", {{"pattern", "^[a-zA-Z_][a-zA-Z0-9_]*$"}}},
              {"additionalProperties", text_schema()}};
    case Setting::Kind::headers:
      return {{"type", "object"}, {"additionalProperties", text_schema()}};
    case Setting::Kind::group:
    case Setting::Kind::list:
      break;
  }
  return Json::object();
}

Json object_of(Json properties, const std::vector<std::string>& required = {}) {
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

// Depth is that of the plugin's declaration.
Json properties_of(const std::vector<Setting>& settings) {
  Json properties = Json::object();
  for (const Setting& setting : settings) {
    Json schema;
    if (setting.kind == Setting::Kind::group) {
      schema = object_of(properties_of(setting.children));
    } else if (setting.kind == Setting::Kind::list) {
      const bool has_item = !setting.children.empty();
      schema = list_of(object_of(
          properties_of(has_item ? setting.children.front().children : std::vector<Setting>())));
    } else {
      schema = value_schema(setting);
    }
    schema["description"] = setting.help;
    if (setting.kind == Setting::Kind::flag) schema["default"] = setting.value == "true";
    if (setting.kind == Setting::Kind::count) schema["default"] = std::stoll(setting.value);
    const bool textual = setting.kind == Setting::Kind::size ||
                         setting.kind == Setting::Kind::duration ||
                         setting.kind == Setting::Kind::share ||
                         setting.kind == Setting::Kind::text || setting.kind == Setting::Kind::path;
    if (textual && !setting.value.empty()) schema["default"] = setting.value;
    properties[setting.name] = std::move(schema);
  }
  return properties;
}

Json merged(Json base, const Json& more) {
  for (const auto& [name, schema] : more.items()) base[name] = schema;
  return base;
}

// One alternative for each kind, told apart by `kind`.
Json by_kind(const std::vector<Setting>& common, const std::vector<KindShape>& kinds,
             const std::vector<std::string>& required) {
  Json alternatives = Json::array();
  for (const KindShape& shape : kinds) {
    Json properties = merged(properties_of(common), properties_of(shape.settings));
    properties["kind"] = {{"const", shape.kind}, {"description", shape.summary}};
    alternatives.push_back(object_of(std::move(properties), required));
  }
  return {{"oneOf", std::move(alternatives)}};
}

Json receiver_schema(const std::vector<KindShape>& kinds) {
  Json properties = {{"name", {{"type", "string"}, {"description", "Routes refer to it."}}}};
  for (const KindShape& shape : kinds) {
    properties[shape.kind] = object_of(properties_of(shape.settings));
    properties[shape.kind]["description"] = shape.summary;
  }
  return object_of(std::move(properties), {"name"});
}

Json route_schema(const std::vector<Setting>& route) {
  Json properties = properties_of(route);
  properties["routes"] = list_of({{"$ref", "#/definitions/route"}});
  return object_of(std::move(properties));
}

Json price_schema(const ConfigShape& shape) {
  Json properties = properties_of(shape.price_table);
  Json model = object_of(properties_of(shape.priced_model));
  for (const char* tariff : {"flat", "peak", "off_peak"}) {
    model["properties"][tariff]["required"] = {"input", "output"};
  }
  model["oneOf"] =
      Json::array({Json{{"required", {"flat"}}}, Json{{"required", {"peak", "off_peak"}}}});
  properties["models"] = {{"type", "object"},
                          {"description", "Prices by the provider's names of its models."},
                          {"minProperties", 1},
                          {"additionalProperties", std::move(model)}};
  return object_of(std::move(properties), {"provider", "currency", "models"});
}

}  // namespace

std::string config_schema(const Catalogs& catalogs) {
  const ConfigShape shape = config_shape(catalogs);
  const Json sections = {
      {"sources",
       {{"type", "object"},
        {"additionalProperties", by_kind(shape.source, shape.sources, {"kind"})}}},
      {"presets", list_of(object_of({{"litellm", object_of(properties_of(shape.litellm))}}))},
      {"signals",
       {{"type", "object"},
        {"additionalProperties", object_of(properties_of(shape.signal), {"source"})}}},
      {"rules", list_of(by_kind(shape.rule, shape.rules, {"name", "kind", "signal"}))},
      {"receivers", list_of(receiver_schema(shape.receivers))},
      {"route", {{"$ref", "#/definitions/route"}}},
      {"store", object_of(properties_of(shape.store))},
      {"http", object_of(properties_of(shape.http))},
      {"prices", list_of(price_schema(shape))},
      {"heartbeat", object_of(properties_of(shape.heartbeat), {"url"})}};
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "outcomed.yaml"}};
  schema.update(object_of(sections, {"sources"}));
  schema["definitions"] = {{"route", route_schema(shape.route)}};
  return schema.dump(2) + "\n";
}

}  // namespace outcomed
