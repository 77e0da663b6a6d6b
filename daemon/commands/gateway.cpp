// gateway check: a gateway's own configuration against a policy.
#include <fmt/core.h>

#include <ostream>

#include "daemon/commands/options.h"
#include "daemon/gateway/checks.h"
#include "daemon/gateway/report.h"
#include "daemon/version.h"

namespace outcomed {
namespace {

using ReportWriter = std::string (*)(const GatewayReport&);

ReportWriter writer_of(std::string_view format) {
  if (format == "table") return to_table;
  if (format == "json") return static_cast<ReportWriter>(to_json);
  if (format == "sarif") return to_sarif;
  if (format == "junit") return to_junit;
  return nullptr;
}

// Nothing where one of the files can't be judged; its problems were printed.
std::optional<GatewayReport> check_files(const std::vector<std::string>& files,
                                         const std::string& policy_file, Shell& shell) {
  GatewayReport report;
  report.files = files;
  report.version = kVersion;
  std::vector<ConfigProblem> problems;
  if (!policy_file.empty()) {
    LoadedPolicy policy = load_policy(policy_file);
    problems = std::move(policy.problems);
    report.policy = std::move(policy.policy);
  }
  for (const std::string& file : files) {
    const LoadedGateway loaded = load_gateway(file);
    problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
    if (!loaded.ok()) continue;
    const GatewayFindings findings = run_checks(loaded.config, report.policy);
    report.findings.insert(report.findings.end(), findings.begin(), findings.end());
  }
  if (problems.empty()) return report;
  shell.err << to_text(problems);
  return std::nullopt;
}

}  // namespace

ExitStatus run_gateway(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "gateway check FILE [FILE …] [--policy FILE]",
      "Reads the configuration of a LiteLLM proxy and says where it breaks the policy: cooldowns\n"
      "that turn a hiccup into an outage, ways out for private data, reserves that are none,\n"
      "prices that differ. Ends with 1 if there is an error or a warning; notes don't fail.",
      "outcomed gateway check litellm.yaml --policy gateway_policy.yaml --format sarif");
  options.value("policy,p", "policy file; the built-in policy without")
      .format({"table", "json", "sarif", "junit"})
      .flag("print-defaults", "print the built-in policy")
      .positional("words", -1, "check FILE");
  if (const auto end = options.parse(arguments, shell)) return *end;
  const std::vector<std::string> words = options.texts("words");
  if (words.empty() || words.front() != "check") {
    return usage_error(shell, "gateway is followed by check FILE; see outcomed gateway --help");
  }
  if (options.has("print-defaults")) {
    shell.out << default_policy_text();
    return ExitStatus::ok;
  }
  if (words.size() == 1) {
    return usage_error(shell, "gateway check: name the gateway's configuration file");
  }
  const ReportWriter write = writer_of(options.text("format"));
  if (!write) {
    return usage_error(shell, fmt::format("--format: \"{}\" is none of table, json, sarif, junit",
                                          options.text("format")));
  }
  const auto report = check_files({words.begin() + 1, words.end()}, options.text("policy"), shell);
  if (!report) return ExitStatus::config;
  shell.out << write(*report);
  return has_failures(report->findings) ? ExitStatus::found : ExitStatus::ok;
}

}  // namespace outcomed
