// What the commands share: their table, their options, where they print.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/clock.h"
#include "daemon/config/loader.h"
#include "daemon/exit_status.h"
#include "daemon/net/secret_reader.h"

namespace outcomed {

// The outside world of a command, so that tests can stand in for it.
struct Shell {
  std::ostream& out;
  std::ostream& err;
  Clock& clock;
  Environment environment;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  std::istream* in = nullptr;  // Standard input; null: there is none.
};

struct CommandEntry {
  std::string_view name;     // "rules export"
  std::string_view summary;  // One line.
  ExitStatus (*run)(const std::vector<std::string>& arguments, Shell& shell);
};

std::span<const CommandEntry> commands();

// Finds the command, runs it; prints the overview for none or --help, and usage errors.
ExitStatus dispatch(const std::vector<std::string>& arguments, Shell& shell);

inline constexpr std::string_view kDefaultConfig = "/etc/outcomed/outcomed.yaml";

ExitStatus run_daemon(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_check(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_backtest(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_signals(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_history(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_explain(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_report(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_report_prices(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_verify(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_rules(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_gateway(const std::vector<std::string>& arguments, Shell& shell);
ExitStatus run_rescore(const std::vector<std::string>& arguments, Shell& shell);

}  // namespace outcomed
