#include "daemon/config/settings.h"

#include <fmt/core.h>

#include <algorithm>

#include "daemon/config/values.h"
#include "daemon/config/words.h"

namespace outcomed {
namespace {

template <class Range, class Print>
std::string list_text(const Range& range, Print print) {
  std::string text;
  for (const auto& item : range) {
    if (!text.empty()) text += ", ";
    text += print(item);
  }
  return text;
}

std::string bracketed(const std::string& text) { return text.empty() ? text : "[" + text + "]"; }
std::string braced(const std::string& text) { return text.empty() ? text : "{" + text + "}"; }

void append_lines(const std::vector<Setting>& settings, const std::string& prefix,
                  std::string& out) {
  for (const Setting& setting : settings) {
    const bool item = setting.name.starts_with('[');
    const std::string path =
        prefix + (prefix.empty() || item ? std::string() : std::string(".")) + setting.name;
    if (setting.kind == Setting::Kind::group || setting.kind == Setting::Kind::list) {
      append_lines(setting.children, path, out);
    } else if (!setting.value.empty()) {
      out += path + '=' + escape_controls(setting.value) + '\n';
    }
  }
}

}  // namespace

std::string to_text(const std::vector<Setting>& settings) {
  std::string out;
  append_lines(settings, "", out);
  return out;
}

std::vector<Setting> SettingRecorder::take() {
  while (!open_.empty()) close();
  return std::move(done_);
}

Setting& SettingRecorder::add(std::string_view name, Setting::Kind kind, std::string value,
                              std::string_view help) {
  std::vector<Setting>& into = open_.empty() ? done_ : open_.back().children;
  into.push_back({std::string(name), kind, std::move(value), {}, std::string(help), {}});
  return into.back();
}

void SettingRecorder::open(Setting setting) { open_.push_back(std::move(setting)); }

void SettingRecorder::close() {
  Setting done = std::move(open_.back());
  open_.pop_back();
  (open_.empty() ? done_ : open_.back().children).push_back(std::move(done));
}

void SettingRecorder::flag(std::string_view name, bool& value, std::string_view help) {
  add(name, Setting::Kind::flag, value ? "true" : "false", help);
}
void SettingRecorder::count(std::string_view name, std::int64_t& value, Bounds bounds,
                            std::string_view help) {
  add(name, Setting::Kind::count, std::to_string(value), help).bounds = bounds;
}
void SettingRecorder::size(std::string_view name, std::int64_t& bytes, std::string_view help) {
  add(name, Setting::Kind::size, size_text(bytes), help);
}
void SettingRecorder::duration(std::string_view name, Duration& value, std::string_view help) {
  add(name, Setting::Kind::duration, format_duration(value), help);
}
void SettingRecorder::share(std::string_view name, std::optional<double>& value,
                            std::string_view help) {
  add(name, Setting::Kind::share, value ? share_text(*value) : "", help);
}
void SettingRecorder::text(std::string_view name, std::string& value, std::string_view help) {
  add(name, Setting::Kind::text, value, help);
}
void SettingRecorder::text_list(std::string_view name, std::vector<std::string>& value,
                                std::string_view help) {
  add(name, Setting::Kind::text_list, bracketed(list_text(value, std::identity())), help);
}
void SettingRecorder::url(std::string_view name, std::string& value, std::string_view help) {
  add(name, Setting::Kind::url, value, help);
}
void SettingRecorder::url_list(std::string_view name, std::vector<std::string>& value,
                               std::string_view help) {
  add(name, Setting::Kind::url_list, bracketed(list_text(value, std::identity())), help);
}
void SettingRecorder::path(std::string_view name, std::string& value, std::string_view help) {
  add(name, Setting::Kind::path, value, help);
}
void SettingRecorder::secret(std::string_view name, SecretRef& value, std::string_view help) {
  add(name, Setting::Kind::secret, value.to_string(), help);
}
void SettingRecorder::matchers(std::string_view name, Matchers& value, std::string_view help) {
  add(name, Setting::Kind::matchers,
      bracketed(list_text(value, [](const Matcher& m) { return "'" + m.to_string() + "'"; })),
      help);
}
void SettingRecorder::labels(std::string_view name, Labels& value, std::string_view help) {
  add(name, Setting::Kind::labels,
      braced(list_text(value.pairs(), [](const auto& p) { return p.first + ": " + p.second; })),
      help);
}
void SettingRecorder::headers(std::string_view name,
                              std::vector<std::pair<std::string, SecretRef>>& value,
                              std::string_view help) {
  add(name, Setting::Kind::headers,
      braced(list_text(value, [](const auto& p) { return p.first + ": " + p.second.to_string(); })),
      help);
}

bool SettingRecorder::begin(std::string_view name, std::string_view help) {
  open({std::string(name), Setting::Kind::group, "", {}, std::string(help), {}});
  return true;
}
void SettingRecorder::end() {
  if (!open_.empty()) close();
}

std::size_t SettingRecorder::items(std::string_view name, std::size_t current,
                                   std::string_view help) {
  const std::size_t count = mode_ == Mode::shape ? 1 : current;
  Setting list{std::string(name), Setting::Kind::list, "", {}, std::string(help), {}};
  open(std::move(list));
  return count;
}
void SettingRecorder::begin_item(std::size_t index) {
  if (!open_.empty() && open_.back().kind != Setting::Kind::list) close();
  open({fmt::format("[{}]", index), Setting::Kind::group, "", {}, "", {}});
}
void SettingRecorder::end_items() {
  if (!open_.empty() && open_.back().kind != Setting::Kind::list) close();
  if (!open_.empty()) close();
}

}  // namespace outcomed
