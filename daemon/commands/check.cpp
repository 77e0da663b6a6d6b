#include <fmt/core.h>

#include <ostream>

#include "daemon/commands/options.h"
#include "daemon/config/default_rules.h"
#include "daemon/config/schema.h"
#include "daemon/plugins.h"

namespace outcomed {
namespace {

std::vector<ConfigProblem> notes_on(const LoadedConfig& loaded, Timestamp now) {
  std::vector<ConfigProblem> notes = loaded.notes;
  for (const auto& more :
       {price_table_notes(loaded.config.prices, now), unreadable_file_notes(loaded.named_files)}) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
  sort_problems(notes);
  return notes;
}

}  // namespace

ExitStatus run_check(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "check [--config FILE]",
      "Reads the configuration and says everything that is wrong with it, one line each:\n"
      "FILE:LINE:COLUMN: PATH: what is wrong; what to do. Ends with 78 if there is anything.\n"
      "Notes are allowed, but perhaps not what was meant: a certificate or secret that isn't "
      "there.",
      "outcomed check --config ./outcomed.yaml");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .format({"table", "json"})
      .flag("print-defaults", "print the rules that are used where the file has none")
      .flag("print-schema", "print the JSON Schema of the file, for editors");
  if (const auto end = options.parse(arguments, shell)) return *end;
  if (options.has("print-defaults")) {
    shell.out << default_rules_text();
    return ExitStatus::ok;
  }
  if (options.has("print-schema")) {
    shell.out << config_schema(catalogs());
    return ExitStatus::ok;
  }
  const std::string format = options.text("format");
  const LoadedConfig loaded = load_config(options.text("config"), catalogs());
  const std::size_t rules = loaded.config.rules.size();
  const std::size_t signals = loaded.config.signals.size();
  const std::vector<ConfigProblem> notes = notes_on(loaded, shell.clock.now());
  if (format == "json") {
    shell.out << to_json(loaded.problems, notes, rules, signals) << "\n";
  } else {
    shell.err << to_text(loaded.problems);
    for (const ConfigProblem& note : notes) shell.err << "note: " << to_text(std::vector{note});
    if (loaded.ok()) {
      shell.out << fmt::format("{}: no problems (rules: {}{}, signals: {})\n",
                               options.text("config"), rules,
                               loaded.config.default_rules ? " built-in" : "", signals);
    }
  }
  return loaded.ok() ? ExitStatus::ok : ExitStatus::config;
}

}  // namespace outcomed
