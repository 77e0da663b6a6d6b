#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "daemon/commands/command.h"
#include "daemon/commands/options.h"
#include "daemon/version.h"

namespace outcomed {
namespace {

constexpr std::array<CommandEntry, 12> kCommands = {{
    {"run", "the daemon: watch, judge, tell", run_daemon},
    {"check", "every problem of the configuration", run_check},
    {"backtest", "which episodes this configuration has on recorded or stored data", run_backtest},
    {"signals", "the buckets of a signal, as CSV", run_signals},
    {"explain", "the numbers behind the present state of a rule", run_explain},
    {"history", "list or show stored episodes", run_history},
    {"rules", "rules export: the share rules as a Prometheus rule file", run_rules},
    {"report", "report absorption: whose failures, by hour; report prices: recorded cost",
     run_report},
    {"verify", "how a router fix has held on the provider failures after it", run_verify},
    {"rescore", "compare two judges' scores of the same items", run_rescore},
    {"gateway", "gateway check: a LiteLLM configuration against a policy", run_gateway},
    {"version", "name and version",
     [](const std::vector<std::string>&, Shell& shell) {
       shell.out << "outcomed " << kVersion << "\n";
       return ExitStatus::ok;
     }},
}};

void overview(std::ostream& out) {
  out << "outcomed watches what an LLM gateway delivers and tells people when it leaves its normal "
         "range.\n\nUsage: outcomed COMMAND [OPTIONS]\n\nCommands:\n";
  for (const CommandEntry& command : kCommands) {
    out << fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  out << fmt::format(
      "\nThe configuration is {} unless --config says otherwise.\n"
      "`outcomed COMMAND --help` shows options and an example.\n\n"
      "Exit status: 0 all well, 1 something found, 2 wrong usage, 69 a source or receiver can't "
      "be\n"
      "reached, 74 the store can't be read or written, 78 the configuration is wrong.\n",
      kDefaultConfig);
}

}  // namespace

std::span<const CommandEntry> commands() { return kCommands; }

ExitStatus dispatch(const std::vector<std::string>& arguments, Shell& shell) {
  if (arguments.empty()) {
    overview(shell.err);
    return ExitStatus::usage;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    overview(shell.out);
    return ExitStatus::ok;
  }
  const std::string_view wanted = name == "--version" ? "version" : std::string_view(name);
  const auto found = std::ranges::find(kCommands, wanted, &CommandEntry::name);
  if (found == kCommands.end()) {
    return usage_error(shell, fmt::format("\"{}\" is no command; see outcomed --help", name));
  }
  return found->run({arguments.begin() + 1, arguments.end()}, shell);
}

}  // namespace outcomed
