// One declaration of a plugin's settings, read several ways: to load them from the configuration,
// to check their bounds, to print them, and to make the JSON Schema and the reference page.
// A plugin declares `void visit(ParamVisitor&)` and calls one method for each setting. A loader
// overwrites the value in place; a printer only reads it. `help` is one sentence.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/matcher.h"
#include "queries/base/secret.h"
#include "queries/base/time.h"

namespace outcomed {

struct Bounds {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

class ParamVisitor {
 public:
  virtual ~ParamVisitor() = default;

  virtual void flag(std::string_view name, bool& value, std::string_view help) = 0;
  virtual void count(std::string_view name, std::int64_t& value, Bounds, std::string_view help) = 0;
  virtual void size(std::string_view name, std::int64_t& bytes, std::string_view help) = 0;
  virtual void duration(std::string_view name, Duration& value, std::string_view help) = 0;
  // A share is written `10%` or `0.1`; never above 100 %.
  virtual void share(std::string_view name, std::optional<double>& value,
                     std::string_view help) = 0;
  virtual void text(std::string_view name, std::string& value, std::string_view help) = 0;
  virtual void text_list(std::string_view name, std::vector<std::string>& value,
                         std::string_view help) = 0;
  virtual void url(std::string_view name, std::string& value, std::string_view help) = 0;
  virtual void url_list(std::string_view name, std::vector<std::string>& value,
                        std::string_view help) = 0;
  virtual void path(std::string_view name, std::string& value, std::string_view help) = 0;
  virtual void secret(std::string_view name, SecretRef& value, std::string_view help) = 0;
  virtual void matchers(std::string_view name, Matchers& value, std::string_view help) = 0;
  // name: text pairs (labels, annotations).
  virtual void labels(std::string_view name, Labels& value, std::string_view help) = 0;
  // name: secret-or-literal pairs (custom HTTP headers).
  virtual void headers(std::string_view name, std::vector<std::pair<std::string, SecretRef>>& value,
                       std::string_view help) = 0;

  // A nested mapping: between begin and end the names are relative to it. False: it is absent, and
  // the plugin may skip visiting its settings (printers and schema makers always say true).
  virtual bool begin(std::string_view name, std::string_view help) = 0;
  virtual void end() = 0;
  // A list of mappings, such as `tiers`. items() says how many there are in the input (printers:
  // how many the plugin has, given as `current`); begin_item/end_item enclose each.
  virtual std::size_t items(std::string_view name, std::size_t current, std::string_view help) = 0;
  virtual void begin_item(std::size_t index) = 0;
  virtual void end_items() = 0;

  // A rule over several settings was broken, said by the plugin after visiting: `name` is the
  // setting to point at, `message` says what is wrong, `hint` what to do.
  virtual void problem(std::string_view name, std::string message, std::string hint = {}) = 0;
};

}  // namespace outcomed
