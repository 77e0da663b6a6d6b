#include "daemon/config/yaml_tree.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "daemon/config/words.h"
#include "daemon/config/yaml_text.h"

namespace outcomed {
namespace {

// Thrown through yaml-cpp to end a parse whose result would be refused anyway.
struct StopParsing {};

// Builds the tree from yaml-cpp's events; no recursion, so the depth of hostile input costs
// nothing.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const YamlText& text, ProblemSink& problems, YamlDialect dialect)
      : text_(text), problems_(problems), follows_aliases_(dialect == YamlDialect::pyyaml) {}

  [[nodiscard]] bool usable() const { return usable_; }
  Node take_root() { return std::move(root_); }
  // The innermost list or mapping in brackets that is not closed yet.
  [[nodiscard]] std::optional<Place> open_since() const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      if (level->bracketed) return level->node.place;
    }
    return std::nullopt;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      stop(place(mark), "a second document starts here", "keep one document in the file");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    open(mark, "", anchor, Node::Kind::null);
    close();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (follows_aliases_) return insert_copy(mark, anchor);
    refuse(place(mark), "aliases (*name) are not supported", "write the value out");
    open(mark, "", 0, Node::Kind::null);
    close();
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node& node = open(mark, tag, anchor, Node::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (has_control_character(value)) {
      refuse(node.place, "the text holds a control character", "remove it");
    }
    if (node.quoted && !text_.quote_closes(byte_offset(mark))) {
      stop(node.place, "the quote that starts here isn't closed", "add the closing quote");
    }
    close();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, Node::Kind::sequence);
    levels_.back().bracketed = style == YAML::EmitterStyle::Flow;
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, Node::Kind::map);
    levels_.back().bracketed = style == YAML::EmitterStyle::Flow;
  }
  void OnMapEnd() override { close(); }

 private:
  // A map takes keys and values in turn; `key` waits for its value.
  struct Level {
    Node node;
    std::optional<Node> key;
    bool bracketed = false;
    YAML::anchor_t anchor = 0;
    std::size_t nodes = 1;          // This one and all below it.
    std::size_t height = 1;         // Levels of nesting, this one included.
    std::vector<Node> merged = {};  // Values of its merge keys.
  };
  // What an anchor names, for the aliases to come.
  struct Anchored {
    Node node;
    std::size_t nodes = 0;
    std::size_t height = 0;
  };

  [[nodiscard]] std::size_t byte_offset(const YAML::Mark& mark) const {
    return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos);
  }
  [[nodiscard]] Place place(const YAML::Mark& mark) const { return text_.place(byte_offset(mark)); }

  // Of the value that the innermost open level holds next.
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.node.kind == Node::Kind::sequence) {
        path = item_path(path, level.node.items.size());
      } else if (level.key) {
        path = join_path(path, level.key->text);
      }
    }
    return path;
  }

  void refuse(Place at, std::string message, std::string hint) {
    usable_ = false;
    problems_.add(at, "", std::move(message), std::move(hint));
  }
  void stop(Place at, std::string message, std::string hint) {
    refuse(at, std::move(message), std::move(hint));
    throw StopParsing();
  }

  Node& open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
             Node::Kind kind) {
    const Place at = place(mark);
    count_nodes(1, at);
    if (levels_.size() >= kMaxConfigDepth) {
      stop(at, fmt::format("more than {} levels of nesting", kMaxConfigDepth), "write it flatter");
    }
    if (anchor != 0 && !follows_aliases_) {
      refuse(at, "anchors (&name) are not supported", "write the value out where it is needed");
    }
    if (tag.size() > 1 && !is_known_tag(tag))
      refuse(at, "tags (!name) are not supported", "remove the tag");
    levels_.push_back({});
    levels_.back().node.kind = kind;
    levels_.back().node.place = at;
    levels_.back().anchor = anchor;
    return levels_.back().node;
  }

  void count_nodes(std::size_t more, Place at) {
    nodes_ += more;
    if (nodes_ <= kMaxConfigNodes) return;
    stop(at, fmt::format("the file has more than {} values", kMaxConfigNodes),
         follows_aliases_ ? "split it, or use fewer aliases (*name)" : "split it");
  }

  [[nodiscard]] bool is_known_tag(const std::string& tag) const {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (!follows_aliases_ || !tag.starts_with(kCore)) return false;
    const std::string_view name = std::string_view(tag).substr(kCore.size());
    return name == "str" || name == "int" || name == "float" || name == "bool" || name == "null" ||
           name == "map" || name == "seq";
  }

  // An alias: the value again, under limits that also hold for what it stands for.
  void insert_copy(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const Place at = place(mark);
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) stop(at, "the alias refers to itself", "write the value out");
    const Anchored& original = found->second;
    count_nodes(original.nodes, at);
    if (levels_.size() + original.height > kMaxConfigDepth) {
      stop(at, fmt::format("more than {} levels of nesting", kMaxConfigDepth), "write it flatter");
    }
    Level copy;
    copy.node = original.node;
    copy.nodes = original.nodes;
    copy.height = original.height;
    levels_.push_back(std::move(copy));
    close();
  }

  void remember(const Level& done) {
    // The copy kept here costs memory too.
    count_nodes(done.nodes, done.node.place);
    anchored_.insert_or_assign(done.anchor, Anchored{done.node, done.nodes, done.height});
  }

  // <<: *one or <<: [*one, *two]: what the mapping itself says wins, then the earlier ones.
  void merge(Level& level, Node value, Place at) {
    std::vector<Node> sources;
    if (value.kind == Node::Kind::sequence) {
      sources = std::move(value.items);
    } else {
      sources.push_back(std::move(value));
    }
    for (Node& source : sources) {
      if (source.kind != Node::Kind::map) {
        refuse(at, "a merge key (<<) takes mappings", "name an anchor of a mapping: <<: *name");
        return;
      }
      level.merged.push_back(std::move(source));
    }
  }

  static void add_merged(Level& level) {
    if (level.merged.empty()) return;
    std::unordered_set<std::string> known;
    for (const Node::Entry& entry : level.node.entries) known.insert(entry.key);
    for (Node& source : level.merged) {
      for (Node::Entry& entry : source.entries) {
        if (known.insert(entry.key).second) level.node.entries.push_back(std::move(entry));
      }
    }
    level.merged.clear();
  }

  // Ends the node opened last and hands it to the one that holds it.
  void close() {
    Level done = std::move(levels_.back());
    levels_.pop_back();
    if (done.node.kind == Node::Kind::map) {
      drop_duplicates(done.node);
      add_merged(done);
    }
    if (done.anchor != 0 && follows_aliases_) remember(done);
    if (!levels_.empty()) {
      levels_.back().nodes += done.nodes;
      levels_.back().height = std::max(levels_.back().height, done.height + 1);
    }
    if (levels_.empty()) {
      root_ = std::move(done.node);
      return;
    }
    Level& parent = levels_.back();
    if (parent.node.kind == Node::Kind::sequence) {
      // yaml-cpp places an empty item where the next token stands.
      if (done.node.kind == Node::Kind::null) done.node.place = parent.node.place;
      parent.node.items.push_back(std::move(done.node));
    } else if (!parent.key) {
      parent.key = std::move(done.node);
    } else {
      add_entry(parent, std::move(done.node));
    }
  }

  void add_entry(Level& parent, Node value) {
    Node key = std::move(*parent.key);
    parent.key.reset();
    if (value.kind == Node::Kind::null) value.place = key.place;
    if (follows_aliases_ && key.text == "<<" && !key.quoted) {
      merge(parent, std::move(value), key.place);
    } else if (key.kind == Node::Kind::map || key.kind == Node::Kind::sequence) {
      refuse(key.place, "a key must be a plain text", "quote texts that start with { or [");
    } else if (key.kind == Node::Kind::null) {
      refuse(key.place, "a key is missing", "write the key, in quotes if it is null or ~");
    } else if (key.text == "<<" && !key.quoted) {
      refuse(key.place, "merge keys (<<) are not supported", "write the settings out");
    } else {
      parent.node.entries.push_back({std::move(key.text), key.place, std::move(value)});
    }
  }

  void drop_duplicates(Node& map) {
    std::unordered_map<std::string_view, std::size_t> seen;
    std::vector<bool> twice(map.entries.size());
    bool any = false;
    for (std::size_t i = 0; i < map.entries.size(); ++i) {
      const Node::Entry& entry = map.entries[i];
      const auto [known, fresh] = seen.emplace(entry.key, i);
      if (fresh) continue;
      problems_.add(entry.place, join_path(path(), entry.key),
                    fmt::format("the key stands here again; it is already in line {}",
                                map.entries[known->second].place.line),
                    "remove one of them");
      twice[follows_aliases_ ? known->second : i] = any = true;
      if (follows_aliases_) known->second = i;
    }
    if (!any) return;
    std::size_t i = 0;
    std::erase_if(map.entries, [&](const Node::Entry&) { return twice[i++]; });
  }

  const YamlText& text_;
  ProblemSink& problems_;
  bool follows_aliases_;
  std::unordered_map<YAML::anchor_t, Anchored> anchored_;
  std::vector<Level> levels_;
  Node root_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
  bool usable_ = true;
};

}  // namespace

const Node::Entry* Node::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

bool parse_yaml(std::string_view raw, Node& root, ProblemSink& problems, YamlDialect dialect) {
  const YamlText text(raw);
  if (const std::optional<TextFault> fault = text.find_fault()) {
    problems.add(fault->place, "", fault->message, fault->hint);
    return false;
  }
  TreeBuilder builder(text, problems, dialect);
  try {
    std::istringstream stream(text.text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const StopParsing&) {
  } catch (const YAML::Exception& error) {
    const std::size_t offset = error.mark.pos < 0 ? 0 : static_cast<std::size_t>(error.mark.pos);
    TextFault fault = text.explain_syntax_error(offset, error.msg, builder.open_since());
    if (dialect == YamlDialect::pyyaml && error.msg.find("anchor") != std::string::npos) {
      fault.message = "the alias names no anchor above it";
      fault.hint = "write &name at the value it stands for, or quote the text";
    }
    problems.add(fault.place, "", fault.message, fault.hint);
    return false;
  }
  if (builder.usable()) root = builder.take_root();
  return builder.usable();
}

}  // namespace outcomed
