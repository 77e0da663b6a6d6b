// Inside of the loader: what the sections of a configuration share while they are read.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/catalogs.h"
#include "daemon/config/config.h"
#include "daemon/config/named_files.h"
#include "daemon/config/node_visitor.h"

namespace outcomed {

// Names of a section in the order of the file, found fast however many there are.
class NameTable {
 public:
  // False where the name is there already.
  bool add(const std::string& name) {
    const bool fresh = index_.emplace(name, names_.size()).second;
    if (fresh) names_.push_back(name);
    return fresh;
  }
  [[nodiscard]] bool holds(std::string_view name) const { return index_.contains(name); }
  // Position among the names added.
  [[nodiscard]] std::size_t at(std::string_view name) const { return index_.find(name)->second; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<std::string> names_;
};

struct Loading {
  const Catalogs& catalogs;
  std::filesystem::path folder;
  Config config;
  std::vector<ConfigProblem> problems;
  std::vector<ConfigProblem> notes;
  std::vector<NamedFile> named_files = {};
  // Where each rule was named first: "outcomed.yaml:41:11".
  std::map<std::string, std::string, std::less<>> rule_places;
  // Positions of sources and signals are those in `config`.
  NameTable sources;
  NameTable signals;
  NameTable receivers;
  // Names of entries that could not be loaded: no second message for those who refer to them.
  NameTable broken_sources;
  NameTable broken_signals;
  bool retention_known = true;  // False where the file says it wrongly.
  bool has_rules = false;       // Some file has `rules:`.
};

// One file while it is read.
struct Section {
  Loading& loading;
  ProblemSink& problems;
  NodeVisitor& top;  // The file's outermost mapping.
};

void load_sources(Section& section);
void load_prices(Section& section);  // Before presets and rules, which are told of them.
void load_presets(Section& section);
void load_signals(Section& section);
void load_receivers(Section& section);
void load_route(Section& section);
void load_store_and_http(Section& section);
// `built_in`: rules whose signal isn't configured are left out.
void load_rules(Section& section, bool built_in);
// What can be said only once everything was read.
void check_whole(Section& section);

// ---- words the sections share ----

// Sections and kinds that the design has and this version hasn't.
bool is_later_section(std::string_view name);
enum class KindOf { source, rule, receiver };
bool is_later_kind(KindOf of, std::string_view kind);

// "unknown kind surg" with the nearest one, or that this version hasn't got it.
void report_unknown_kind(ProblemSink& problems, Place place, const std::string& path, KindOf of,
                         std::string_view kind, const std::vector<std::string>& known);

// "did you mean x?", else "<what> here: a, b, c".
std::string nearest_hint(const ProblemSink& problems, std::string_view text,
                         const std::vector<std::string>& known, std::string_view what);

// Reports a required text that is missing or empty.
bool require(NodeVisitor& visitor, ProblemSink& problems, std::string_view name,
             const std::string& value, std::string hint);

// Labels that aren't names, stand twice, or are in `others` too.
void check_label_list(NodeVisitor& visitor, ProblemSink& problems, std::string_view name,
                      const std::vector<std::string>& labels,
                      const std::vector<std::string>& others = {});

// The entries of a section that maps names to mappings; names of those that are none go to
// `broken`.
std::vector<const Node::Entry*> named_entries(Section& section, std::string_view name,
                                              NameTable& broken);

// The source that `setting` names, or a message. Null also where the source itself is broken.
const SourceEntry* find_source(Section& section, NodeVisitor& visitor, std::string_view setting,
                               const std::string& name);

// Signals keep the order in which they are added. False: the name is taken and stays with the
// first.
bool add_signal(Loading& loading, SignalPlan plan);

void check_step(NodeVisitor& visitor, Duration step);

template <class Entries>
std::vector<std::string> kinds_of(const Entries& entries) {
  std::vector<std::string> kinds;
  for (const auto& entry : entries) kinds.emplace_back(entry.kind);
  return kinds;
}

}  // namespace outcomed
