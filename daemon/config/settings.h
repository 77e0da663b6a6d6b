// Settings read back from a plugin's declaration: as values (what is in force) or as a shape (what
// there is, for the schema and the reference page).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/params.h"

namespace outcomed {

struct Setting {
  enum class Kind {
    flag,
    count,
    size,
    duration,
    share,
    text,
    text_list,
    url,
    url_list,
    path,
    secret,
    matchers,
    labels,
    headers,
    group,  // A nested mapping: `children`.
    list,   // A list of mappings: `children` are groups, one for each item.
  };
  std::string name;
  Kind kind = Kind::text;
  std::string value;  // As one would write it; empty where it is not set.
  Bounds bounds;      // Of counts.
  std::string help;
  std::vector<Setting> children;
};

class SettingRecorder final : public ParamVisitor {
 public:
  // values: lists have as many items as there are. shape: every list has exactly one.
  enum class Mode { values, shape };
  explicit SettingRecorder(Mode mode) : mode_(mode) {}

  std::vector<Setting> take();

  void flag(std::string_view name, bool& value, std::string_view help) override;
  void count(std::string_view name, std::int64_t& value, Bounds bounds,
             std::string_view help) override;
  void size(std::string_view name, std::int64_t& bytes, std::string_view help) override;
  void duration(std::string_view name, Duration& value, std::string_view help) override;
  void share(std::string_view name, std::optional<double>& value, std::string_view help) override;
  void text(std::string_view name, std::string& value, std::string_view help) override;
  void text_list(std::string_view name, std::vector<std::string>& value,
                 std::string_view help) override;
  void url(std::string_view name, std::string& value, std::string_view help) override;
  void url_list(std::string_view name, std::vector<std::string>& value,
                std::string_view help) override;
  void path(std::string_view name, std::string& value, std::string_view help) override;
  void secret(std::string_view name, SecretRef& value, std::string_view help) override;
  void matchers(std::string_view name, Matchers& value, std::string_view help) override;
  void labels(std::string_view name, Labels& value, std::string_view help) override;
  void headers(std::string_view name, std::vector<std::pair<std::string, SecretRef>>& value,
               std::string_view help) override;
  bool begin(std::string_view name, std::string_view help) override;
  void end() override;
  std::size_t items(std::string_view name, std::size_t current, std::string_view help) override;
  void begin_item(std::size_t index) override;
  void end_items() override;
  void problem(std::string_view, std::string, std::string) override {}

 private:
  Setting& add(std::string_view name, Setting::Kind kind, std::string value, std::string_view help);
  void open(Setting setting);
  void close();

  Mode mode_;
  std::vector<Setting> done_;
  std::vector<Setting> open_;  // Groups and lists begun and not ended; innermost last.
};

// "tiers[0].above=5%" lines, one for each setting that is set.
std::string to_text(const std::vector<Setting>& settings);

template <class Params>
std::vector<Setting> settings_of(Params& params, SettingRecorder::Mode mode) {
  SettingRecorder recorder(mode);
  params.visit(recorder);
  return recorder.take();
}

}  // namespace outcomed
