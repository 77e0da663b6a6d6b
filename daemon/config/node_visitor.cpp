#include "daemon/config/node_visitor.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "alerts/text.h"
#include "daemon/config/headers.h"
#include "daemon/config/values.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxValues = 1000;  // Of a list or mapping of plain values.
constexpr std::size_t kMaxItems = 100;    // Of a list of mappings.
constexpr Duration kLongestDuration = std::chrono::hours(24 * 365 * 100);

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

bool is_environment_name(std::string_view name) { return is_label_name(name); }

bool is_credential_name(std::string_view name) {
  return name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find(':') == std::string_view::npos;
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
    hint = fmt::format("write a list: [{}]", node.text.find_first_of(",[]{}\"':#") == node.text.npos
                                                 ? node.text
                                                 : std::string("…"));
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

template <class Take>
bool NodeVisitor::each_text(std::string_view name, std::string_view example, Take take_text) {
  const Node* list = value_of(name, Want::list, fmt::format("a list: [{}]", example));
  if (!list) return false;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string path = item_path(path_of(name), i);
    if (check_kind(list->items[i], Want::scalar, path, example)) take_text(list->items[i], path);
  }
  return true;
}

void NodeVisitor::flag(std::string_view name, bool& value, std::string_view) {
  const Node* node = value_of(name, Want::scalar, "true or false");
  if (!node) return;
  if (!node->quoted && (node->text == "true" || node->text == "false")) {
    value = node->text == "true";
    return;
  }
  const std::string word = fold_word(node->text);
  const bool yes = word == "true" || word == "yes" || word == "on" || word == "1";
  const bool no = word == "false" || word == "no" || word == "off" || word == "0";
  const std::string_view hint = yes ? "did you mean true?" : no ? "did you mean false?" : "";
  problems_.add(node->place, path_of(name),
                fmt::format("{} is not true or false",
                            node->quoted ? in_quotes(node->text) : shown(node->text)),
                hint.empty() ? "write true or false" : std::string(hint));
}

void NodeVisitor::count(std::string_view name, std::int64_t& value, Bounds bounds,
                        std::string_view) {
  const Node* node = value_of(name, Want::scalar, "a whole number, such as 20");
  if (!node) return;
  if (node->quoted) {
    problems_.add(node->place, path_of(name), fmt::format("{} is a text", in_quotes(node->text)),
                  "write the number without quotes");
    return;
  }
  const Result<std::int64_t> number = parse_whole_number(node->text);
  if (!number) return problems_.add(node->place, path_of(name), number.error());
  if (static_cast<double>(*number) < bounds.min) {
    problems_.add(node->place, path_of(name), fmt::format("{} is too small", *number),
                  fmt::format("at least {:.0f}", bounds.min));
  } else if (static_cast<double>(*number) > bounds.max) {
    problems_.add(node->place, path_of(name), fmt::format("{} is too large", *number),
                  fmt::format("at most {:.0f}", bounds.max));
  } else {
    value = *number;
  }
}

void NodeVisitor::size(std::string_view name, std::int64_t& bytes, std::string_view) {
  const Node* node = value_of(name, Want::scalar, "a size, such as 64MiB");
  if (!node) return;
  const Result<std::int64_t> size = parse_size(node->text);
  if (!size) return problems_.add(node->place, path_of(name), size.error());
  bytes = *size;
}

void NodeVisitor::duration(std::string_view name, Duration& value, std::string_view) {
  const Node* node = value_of(name, Want::scalar, "a duration, such as 15m");
  if (!node) return;
  const Result<Duration> duration = parse_duration(node->text);
  if (!duration) return problems_.add(node->place, path_of(name), duration.error());
  if (*duration > kLongestDuration) {
    problems_.add(node->place, path_of(name), shown(node->text) + " is longer than a hundred years",
                  "write a shorter one");
    return;
  }
  value = *duration;
}

void NodeVisitor::share(std::string_view name, std::optional<double>& value, std::string_view) {
  const Node* node = value_of(name, Want::scalar, "a share, such as 10%");
  if (!node) return;
  const Result<double> share = parse_share(node->text);
  if (!share) return problems_.add(node->place, path_of(name), share.error());
  value = *share;
}

void NodeVisitor::text(std::string_view name, std::string& value, std::string_view) {
  if (const Node* node = value_of(name, Want::scalar, "a text")) value = node->text;
}

void NodeVisitor::text_list(std::string_view name, std::vector<std::string>& value,
                            std::string_view) {
  std::vector<std::string> texts;
  const auto take_text = [&](const Node& node, const std::string&) { texts.push_back(node.text); };
  if (each_text(name, "one, two", take_text)) value = std::move(texts);
}

void NodeVisitor::url(std::string_view name, std::string& value, std::string_view) {
  const Node* node = value_of(name, Want::scalar, "a URL, such as http://127.0.0.1:9090");
  if (!node) return;
  const Status valid = check_url(node->text);
  if (!valid) return problems_.add(node->place, path_of(name), valid.error());
  value = node->text;
}

void NodeVisitor::url_list(std::string_view name, std::vector<std::string>& value,
                           std::string_view) {
  std::vector<std::string> urls;
  const bool there =
      each_text(name, "http://127.0.0.1:9093", [&](const Node& node, const std::string& path) {
        const Status valid = check_url(node.text);
        if (!valid) return problems_.add(node.place, path, valid.error());
        urls.push_back(node.text);
      });
  if (there) value = std::move(urls);
}

std::string NodeVisitor::resolve(std::string_view path) const {
  return (folder_ / std::filesystem::path(path)).lexically_normal().string();
}

void NodeVisitor::path(std::string_view name, std::string& value, std::string_view) {
  const Node* node = value_of(name, Want::scalar, "a path");
  if (!node) return;
  if (node->text.empty()) {
    problems_.add(node->place, path_of(name), "the path is empty",
                  "remove the key, or name a file");
    return;
  }
  value = resolve(node->text);
}

bool NodeVisitor::read_secret(const Node& node, const std::string& path, SecretRef& value) {
  Result<SecretRef> secret = SecretRef::parse(node.text);
  if (!secret) {
    problems_.add(node.place, path, secret.error());
    return false;
  }
  if (secret->kind == SecretRef::Kind::env && !is_environment_name(secret->name)) {
    problems_.add(node.place, path, "not the name of an environment variable",
                  "write for example env:LITELLM_KEY");
    return false;
  }
  if (secret->kind == SecretRef::Kind::cred && !is_credential_name(secret->name)) {
    problems_.add(node.place, path, "not the name of a systemd credential",
                  "write for example cred:litellm_key");
    return false;
  }
  if (secret->kind == SecretRef::Kind::file) secret->name = resolve(secret->name);
  value = *std::move(secret);
  return true;
}

void NodeVisitor::secret(std::string_view name, SecretRef& value, std::string_view) {
  const Node* node = value_of(name, Want::scalar, "a reference: file:/path, env:NAME or cred:NAME");
  if (node) read_secret(*node, path_of(name), value);
}

void NodeVisitor::matchers(std::string_view name, Matchers& value, std::string_view) {
  Matchers list;
  const bool there =
      each_text(name, "'model=\"judge\"'", [&](const Node& node, const std::string& path) {
        Result<Matcher> matcher = Matcher::parse(node.text);
        if (!matcher) return problems_.add(node.place, path, matcher.error());
        list.push_back(*std::move(matcher));
      });
  if (there) value = std::move(list);
}

void NodeVisitor::labels(std::string_view name, Labels& value, std::string_view) {
  const Node* map = value_of(name, Want::map, "name: text pairs");
  if (!map) return;
  Labels labels;
  for (const Node::Entry& entry : map->entries) {
    const std::string path = join_path(path_of(name), entry.key);
    if (!is_label_name(entry.key) || entry.key.starts_with("__")) {
      problems_.add(entry.place, path, shown(entry.key) + " can't be a name here",
                    "use letters, digits and _, not starting with a digit or __");
    } else if (check_kind(entry.value, Want::scalar, path, "a text")) {
      labels.set(entry.key, entry.value.text);
    }
  }
  value = std::move(labels);
}

void NodeVisitor::headers(std::string_view name,
                          std::vector<std::pair<std::string, SecretRef>>& value, std::string_view) {
  const Node* map = value_of(name, Want::map, "name: value pairs");
  if (!map) return;
  std::vector<std::pair<std::string, SecretRef>> list;
  for (const Node::Entry& entry : map->entries) {
    const std::string path = join_path(path_of(name), entry.key);
    if (!check_kind(entry.value, Want::scalar, path, "a text or a secret reference")) continue;
    SecretRef ref{SecretRef::Kind::literal, entry.value.text};
    if (is_reference(entry.value.text)) {
      if (!read_secret(entry.value, path, ref)) continue;
    }
    if (const Status valid = check_header(entry.key, ref); !valid) {
      problems_.add(entry.place, path, valid.error());
      continue;
    }
    list.emplace_back(entry.key, std::move(ref));
  }
  value = std::move(list);
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
  const bool absent = frame.node->find(name) == nullptr;
  if (is_broken(name) || (absent && problems_.has_problem_at(frame.path, first_problem_))) return;
  problems_.add(place_of(name), path_of(name), std::move(message), std::move(hint));
}

}  // namespace outcomed
