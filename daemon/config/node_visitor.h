// Loads settings from one mapping of a file. Values that are there replace the defaults in place;
// wrong ones are reported and leave the default. finish() reports the keys nobody asked for.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"
#include "daemon/config/yaml_tree.h"
#include "queries/base/params.h"

namespace outcomed {

class NodeVisitor final : public ParamVisitor {
 public:
  // `node` must be a map, or stand for an empty one. `path` is where it hangs; relative paths and
  // secret files are taken from `folder`.
  NodeVisitor(const Node& node, std::string path, ProblemSink& problems,
              std::filesystem::path folder);

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
  // Left out where the value itself was wrong already: one mistake, one message. An empty name
  // points at the mapping as a whole.
  void problem(std::string_view name, std::string message, std::string hint = {}) override;

  // ---- for the loader ----
  // The entry of this name, from now on a known one; null where there is none.
  const Node::Entry* take(std::string_view name);
  // Where the value of `name` stands, or the mapping where there is none.
  [[nodiscard]] Place place_of(std::string_view name) const;
  [[nodiscard]] std::string path_of(std::string_view name) const;
  // Whether something wrong was found at `name` or below.
  [[nodiscard]] bool is_broken(std::string_view name) const;
  void finish();

 private:
  struct Frame {
    const Node* node;  // Null for an item that is no mapping.
    std::string path;
    std::vector<bool> used;
    std::vector<std::string> known;
    bool is_list = false;
    std::size_t empty_lists = 0;  // items() that found none, and whose end_items() is to come.
  };
  enum class Want { scalar, list, map };

  Frame& top() { return frames_.back(); }
  void push(const Node* node, std::string path, bool is_list = false);
  void pop();
  void report_unknown(const Frame& frame);
  // The value of `name` if it is there and of the wanted kind; `example` completes "write …".
  const Node* value_of(std::string_view name, Want want, std::string_view example);
  bool check_kind(const Node& node, Want want, const std::string& path, std::string_view example);
  // The scalars of a list, each with its path.
  template <class Take>
  bool each_text(std::string_view name, std::string_view example, Take take);
  [[nodiscard]] std::string resolve(std::string_view path) const;
  bool read_secret(const Node& node, const std::string& path, SecretRef& value);

  ProblemSink& problems_;
  std::filesystem::path folder_;
  std::size_t first_problem_;
  std::vector<Frame> frames_;
};

// "is a list"; "is a mapping"; "has no value".
std::string kind_text(const Node& node);

}  // namespace outcomed
