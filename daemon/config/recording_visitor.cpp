#include "daemon/config/recording_visitor.h"

namespace outcomed {

void RecordingVisitor::flag(std::string_view name, bool& value, std::string_view help) {
  loader_.flag(name, value, help);
  recorder_.flag(name, value, help);
}
void RecordingVisitor::count(std::string_view name, std::int64_t& value, Bounds bounds,
                             std::string_view help) {
  loader_.count(name, value, bounds, help);
  recorder_.count(name, value, bounds, help);
}
void RecordingVisitor::size(std::string_view name, std::int64_t& bytes, std::string_view help) {
  loader_.size(name, bytes, help);
  recorder_.size(name, bytes, help);
}
void RecordingVisitor::duration(std::string_view name, Duration& value, std::string_view help) {
  loader_.duration(name, value, help);
  recorder_.duration(name, value, help);
}
void RecordingVisitor::share(std::string_view name, std::optional<double>& value,
                             std::string_view help) {
  loader_.share(name, value, help);
  recorder_.share(name, value, help);
}
void RecordingVisitor::text(std::string_view name, std::string& value, std::string_view help) {
  loader_.text(name, value, help);
  recorder_.text(name, value, help);
}
void RecordingVisitor::text_list(std::string_view name, std::vector<std::string>& value,
                                 std::string_view help) {
  loader_.text_list(name, value, help);
  recorder_.text_list(name, value, help);
}
void RecordingVisitor::url(std::string_view name, std::string& value, std::string_view help) {
  loader_.url(name, value, help);
  recorder_.url(name, value, help);
}
void RecordingVisitor::url_list(std::string_view name, std::vector<std::string>& value,
                                std::string_view help) {
  loader_.url_list(name, value, help);
  recorder_.url_list(name, value, help);
}
void RecordingVisitor::path(std::string_view name, std::string& value, std::string_view help) {
  loader_.path(name, value, help);
  recorder_.path(name, value, help);
}
void RecordingVisitor::secret(std::string_view name, SecretRef& value, std::string_view help) {
  loader_.secret(name, value, help);
  recorder_.secret(name, value, help);
}
void RecordingVisitor::matchers(std::string_view name, Matchers& value, std::string_view help) {
  loader_.matchers(name, value, help);
  recorder_.matchers(name, value, help);
}
void RecordingVisitor::labels(std::string_view name, Labels& value, std::string_view help) {
  loader_.labels(name, value, help);
  recorder_.labels(name, value, help);
}
void RecordingVisitor::headers(std::string_view name,
                               std::vector<std::pair<std::string, SecretRef>>& value,
                               std::string_view help) {
  loader_.headers(name, value, help);
  recorder_.headers(name, value, help);
}
bool RecordingVisitor::begin(std::string_view name, std::string_view help) {
  if (!loader_.begin(name, help)) return false;
  return recorder_.begin(name, help);
}
void RecordingVisitor::end() {
  loader_.end();
  recorder_.end();
}
std::size_t RecordingVisitor::items(std::string_view name, std::size_t current,
                                    std::string_view help) {
  const std::size_t count = loader_.items(name, current, help);
  recorder_.items(name, count, help);
  return count;
}
void RecordingVisitor::begin_item(std::size_t index) {
  loader_.begin_item(index);
  recorder_.begin_item(index);
}
void RecordingVisitor::end_items() {
  loader_.end_items();
  recorder_.end_items();
}
void RecordingVisitor::problem(std::string_view name, std::string message, std::string hint) {
  loader_.problem(name, std::move(message), std::move(hint));
}

}  // namespace outcomed
