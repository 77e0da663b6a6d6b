#include "daemon/config/loader.h"

#include <fmt/core.h>

#include <exception>

#include "alerts/digest.h"
#include "daemon/config/default_rules.h"
#include "daemon/config/files.h"
#include "daemon/config/loading.h"
#include "daemon/config/yaml_tree.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;

// The outermost mapping of a file; false when there is none to read.
bool read_root(const ConfigFile& file, ProblemSink& problems, Node& root) {
  if (!parse_yaml(file.text, root, problems)) return false;
  if (root.kind == Node::Kind::null) {
    root.kind = Node::Kind::map;
    root.place = {1, 1};
  }
  if (root.kind == Node::Kind::map) return true;
  problems.add(root.place, "", "the file " + kind_text(root), "write sections such as sources:");
  return false;
}

void refuse_later_sections(ProblemSink& problems, NodeVisitor& top, const Node& root) {
  for (const Node::Entry& entry : root.entries) {
    if (!is_later_section(entry.key)) continue;
    top.take(entry.key);
    problems.add(entry.place, entry.key, "isn't read by this version", "remove the section");
  }
}

// False: the file can't be read as a whole, so what depends on it can't be judged.
bool load_main(Loading& loading, const ConfigFile& file) {
  ProblemSink problems(file.name, loading.problems, &loading.named_files);
  Node root;
  if (!read_root(file, problems, root)) return false;
  NodeVisitor top(root, "", problems, loading.folder);
  Section section{loading, problems, top};
  refuse_later_sections(problems, top, root);
  load_sources(section);
  load_prices(section);
  load_presets(section);
  load_signals(section);
  load_store_and_http(section);
  load_rules(section, false);
  load_receivers(section);
  load_route(section);
  check_whole(section);
  top.finish();
  return true;
}

bool load_rule_file(Loading& loading, const ConfigFile& file, bool built_in) {
  ProblemSink problems(file.name, loading.problems);
  Node root;
  if (!read_root(file, problems, root)) return false;
  NodeVisitor top(root, "", problems, loading.folder);
  Section section{loading, problems, top};
  load_rules(section, built_in);
  for (const Node::Entry& entry : root.entries) {
    if (entry.key == "rules") continue;
    top.take(entry.key);
    problems.add(entry.place, join_path("", entry.key), "only rules: may stand in rules.d",
                 "move it to the main file");
  }
  top.finish();
  return true;
}

void load_default_rules(Loading& loading, std::vector<ConfigFile>& files) {
  files.push_back({std::string(kBuiltInRules), std::string(default_rules_text())});
  load_rule_file(loading, files.back(), true);
  loading.config.default_rules = true;
}

void load_files(Loading& loading, std::vector<ConfigFile>& files) {
  bool readable = !files.empty() && load_main(loading, files.front());
  const bool main_readable = readable;
  for (std::size_t i = 1; i < files.size() && main_readable; ++i) {
    const bool built_in = files[i].name == kBuiltInRules;
    readable &= load_rule_file(loading, files[i], built_in);
    if (built_in) loading.config.default_rules = true;
  }
  if (readable && !loading.has_rules) load_default_rules(loading, files);
  if (readable && loading.config.rules.empty()) {
    ProblemSink(files.front().name, loading.notes)
        .add({}, "rules", "there are none: nothing will be judged", "write rules:");
  }
}

LoadedConfig load(ConfigFiles found, const fs::path& path, const Catalogs& catalogs) {
  LoadedConfig out;
  std::error_code error;
  Loading loading{.catalogs = catalogs,
                  .folder = fs::absolute(path, error).parent_path(),
                  .config = {},
                  .problems = std::move(found.problems),
                  .notes = std::move(found.notes),
                  .rule_places = {},
                  .sources = {},
                  .signals = {},
                  .receivers = {},
                  .broken_sources = {},
                  .broken_signals = {}};
  try {
    load_files(loading, found.files);
    out.text = join_config_text(found.files);
    Result<std::string> hash = sha256_hex(out.text);
    if (hash) {
      out.hash = *std::move(hash);
    } else {
      ProblemSink(path.string(), loading.problems).add({}, "", hash.error());
    }
  } catch (const std::exception& failure) {  // A plugin's visit, or no memory.
    ProblemSink(path.string(), loading.problems)
        .add({}, "", fmt::format("can't be loaded: {}", failure.what()));
  }
  sort_problems(loading.problems);
  sort_problems(loading.notes);
  out.config = std::move(loading.config);
  out.problems = std::move(loading.problems);
  out.notes = std::move(loading.notes);
  out.named_files = std::move(loading.named_files);
  return out;
}

}  // namespace

LoadedConfig load_config(const fs::path& path, const Catalogs& catalogs) {
  return load(read_config_files(path), path, catalogs);
}

LoadedConfig load_config_text(std::string_view text, const fs::path& path,
                              const Catalogs& catalogs) {
  ConfigFiles found;
  found.files = split_config_text(text, path.string());
  return load(std::move(found), path, catalogs);
}

}  // namespace outcomed
