#pragma once

#include "daemon/config/settings.h"
#include "queries/base/params.h"

namespace outcomed {

// Shows everything to a loader first and then to a recorder, so that what is in force is known.
class RecordingVisitor final : public ParamVisitor {
 public:
  RecordingVisitor(ParamVisitor& loader, SettingRecorder& recorder)
      : loader_(loader), recorder_(recorder) {}

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
  void problem(std::string_view name, std::string message, std::string hint) override;

 private:
  ParamVisitor& loader_;
  SettingRecorder& recorder_;
};

}  // namespace outcomed
