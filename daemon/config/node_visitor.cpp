#include "daemon/config/node_visitor.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "daemon/config/words.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxValues = 1000;  // Of a list or mapping of plain values.
constexpr std::size_t kMaxItems = 100;    // Of a list of mappings.

// Words of neighbouring tools for what is called otherwise here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOtherWords = {
    {{"alert", "name"},
     {"match", "matchers"},
     {"match_re", "matchers"},
     {"threshold", "above"},
     {"filters", "matchers"},
     {"group_labels", "by"}}};

std::string unknown_key_hint(std::string_view key, const std::vector<std::string>& known) {
  for (const auto& [other, ours] : kOtherWords) {
    if (key == other && std::ranges::find(known, ours) != known.end()) {
      return fmt::format("did you mean {}?", ours);
    }
  }
  if (const auto near = suggest(key, known)) return fmt::format("did you mean {}?", *near);
  if (known.empty()) return "remove it";
  std::string all;
  for (std::size_t i = 0; i < std::min<std::size_t>(known.size(), 30); ++i) {
    all += (i == 0 ? "" : ", ") + known[i];
  }
  return "known here: " + all;
}

}  // namespace

std::string kind_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "has no value";
    case Node::Kind::scalar:
      return "is a single value";
    case Node::Kind::map:
      return "is a mapping";
    case Node::Kind::sequence:
      return "is a list";
  }
  return "";
}

NodeVisitor::NodeVisitor(const Node& node, std::string path, ProblemSink& problems,
                         std::filesystem::path folder)
    : problems_(problems), folder_(std::move(folder)), first_problem_(problems.size()) {
  push(&node, std::move(path));
}

void NodeVisitor::push(const Node* node, std::string path, bool is_list) {
  const std::size_t keys = node ? node->entries.size() : 0;
  frames_.push_back({node, std::move(path), std::vector<bool>(keys), {}, is_list, 0});
}

void NodeVisitor::report_unknown(const Frame& frame) {
  if (!frame.node || frame.is_list) return;
  for (std::size_t i = 0; i < frame.used.size(); ++i) {
    if (frame.used[i]) continue;
    const Node::Entry& entry = frame.node->entries[i];
    std::string hint =
        problems_.is_crowded() ? std::string() : unknown_key_hint(entry.key, frame.known);
    problems_.add(entry.place, join_path(frame.path, entry.key), "unknown key", std::move(hint));
  }
}

void NodeVisitor::pop() {
  report_unknown(frames_.back());
  frames_.pop_back();
}

void NodeVisitor::finish() {
  while (frames_.size() > 1) pop();
  report_unknown(frames_.front());
}

const Node::Entry* NodeVisitor::take(std::string_view name) {
  Frame& frame = top();
  if (std::ranges::find(frame.known, name) == frame.known.end()) frame.known.emplace_back(name);
  if (!frame.node) return nullptr;
  const Node::Entry* entry = frame.node->find(name);
  if (entry) frame.used[static_cast<std::size_t>(entry - frame.node->entries.data())] = true;
  return entry;
}

std::string NodeVisitor::path_of(std::string_view name) const {
  return join_path(frames_.back().path, name);
}

Place NodeVisitor::place_of(std::string_view name) const {
  const Node* node = frames_.back().node;
  if (!node) return {};
  const Node::Entry* entry = node->find(name);
  return entry ? entry->value.place : node->place;
}

bool NodeVisitor::is_broken(std::string_view name) const {
  return problems_.has_problem_at(path_of(name), first_problem_);
}

bool NodeVisitor::check_kind(const Node& node, Want want, const std::string& path,
                             std::string_view example) {
  const auto wanted = want == Want::scalar ? Node::Kind::scalar
                      : want == Want::list ? Node::Kind::sequence
                                           : Node::Kind::map;
  if (node.kind == wanted) return true;
  std::string hint = fmt::format("write {}", example);
  if (node.kind == Node::Kind::scalar && want == Want::list && !node.text.empty()) {
    const bool plain = shown(node.text) == node.text;
    hint = fmt::format("write a list: [{}]", plain ? node.text : std::string("…"));
  }
  if (node.kind == Node::Kind::null) hint = "remove the key, or " + hint;
  problems_.add(node.place, path, kind_text(node), std::move(hint));
  return false;
}

const Node* NodeVisitor::value_of(std::string_view name, Want want, std::string_view example) {
  const Node::Entry* entry = take(name);
  if (!entry || !check_kind(entry->value, want, path_of(name), example)) return nullptr;
  if (std::max(entry->value.items.size(), entry->value.entries.size()) > kMaxValues) {
    problems_.add(entry->value.place, path_of(name),
                  fmt::format("holds more than {} values", kMaxValues), "shorten it");
    return nullptr;
  }
  return &entry->value;
}

bool NodeVisitor::begin(std::string_view name, std::string_view) {
  const Node* map = value_of(name, Want::map, "a mapping of settings");
  if (!map) return false;
  push(map, path_of(name));
  return true;
}

void NodeVisitor::end() {
  if (frames_.size() > 1) pop();
}

std::size_t NodeVisitor::items(std::string_view name, std::size_t, std::string_view) {
  const Node* list = value_of(name, Want::list, "a list of mappings");
  if (!list || list->items.empty()) {
    ++top().empty_lists;
    return 0;
  }
  if (list->items.size() > kMaxItems) {
    problems_.add(list->place, path_of(name), fmt::format("holds more than {} items", kMaxItems),
                  "shorten it");
  }
  push(list, path_of(name), true);
  return std::min(list->items.size(), kMaxItems);
}

void NodeVisitor::begin_item(std::size_t index) {
  if (!top().is_list) pop();
  const Node& item = top().node->items[index];
  std::string path = item_path(top().path, index);
  const bool map = check_kind(item, Want::map, path, "a mapping of settings");
  push(map ? &item : nullptr, std::move(path));
}

void NodeVisitor::end_items() {
  if (!top().is_list && top().empty_lists > 0) {
    --top().empty_lists;
    return;
  }
  if (!top().is_list) pop();
  if (frames_.size() > 1) pop();
}

void NodeVisitor::problem(std::string_view name, std::string message, std::string hint) {
  const Frame& frame = top();
  if (!frame.node) return;
  if (name.empty()) {
    problems_.add(frame.node->place, frame.path, std::move(message), std::move(hint));
    return;
  }
  const bool absent = frame.node->find(name) == nullptr;
  if (is_broken(name) || (absent && problems_.has_problem_at(frame.path, first_problem_))) return;
  problems_.add(place_of(name), path_of(name), std::move(message), std::move(hint));
}

}  // namespace outcomed
