// The values a NodeVisitor can read.
#include <fmt/core.h>

#include "alerts/text.h"
#include "daemon/config/addresses.h"
#include "daemon/config/headers.h"
#include "daemon/config/node_visitor.h"
#include "daemon/config/values.h"
#include "daemon/config/words.h"

namespace outcomed {
namespace {

constexpr Duration kLongestDuration = std::chrono::hours(24 * 365 * 100);

bool is_environment_name(std::string_view name) { return is_label_name(name); }

bool is_credential_name(std::string_view name) {
  return name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find(':') == std::string_view::npos;
}

// Of those before: one that no value of the label can match together with this one. Found where
// either asks for a single value.
const Matcher* excluded_by(const Matcher& matcher, const Matchers& before) {
  const auto refuses = [](const Matcher& one, const Matcher& other) {
    return other.op() == Matcher::Op::equal && !one.matches(other.value());
  };
  for (const Matcher& other : before) {
    if (other.name() != matcher.name()) continue;
    if (refuses(matcher, other) || refuses(other, matcher)) return &other;
  }
  return nullptr;
}

}  // namespace

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
  problems_.names_file(node->place, path_of(name), value);
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
  if (secret->kind == SecretRef::Kind::file) {
    secret->name = resolve(secret->name);
    problems_.names_file(node.place, path, secret->name);
  }
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
        if (const Matcher* other = excluded_by(*matcher, list)) {
          return problems_.add(node.place, path, "nothing matches this and " + other->to_string(),
                               "remove one of them");
        }
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

}  // namespace outcomed
