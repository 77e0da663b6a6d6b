#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "daemon/commands/rescore_input.h"
#include "daemon/commands/table.h"
#include "daemon/rescore/plan_csv.h"
#include "daemon/rescore/report_json.h"
#include "daemon/rescore/svg.h"

namespace outcomed {
namespace {

struct RescoreRequest {
  ScoreInput input;
  ScoreColumns columns;
  RescoreTerms terms;
  std::size_t plan = 0;  // 0: a report.
  std::string svg_folder;
  std::string format;
};

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

Error usage(std::string message) { return {ErrorKind::invalid, std::move(message)}; }

Status read_terms(const Options& options, RescoreRequest& request) {
  const auto threshold = number_in(options.text("threshold"));
  if (!options.has("threshold")) {
    return usage("--threshold is needed: the old score from which an item passed");
  }
  if (!threshold) {
    return usage(fmt::format("--threshold: \"{}\" is no number", options.text("threshold")));
  }
  request.terms.old_threshold = *threshold;
  if (!options.has("new-threshold")) return ok();
  request.terms.new_threshold = number_in(options.text("new-threshold"));
  if (request.terms.new_threshold) return ok();
  return usage(fmt::format("--new-threshold: \"{}\" is no number", options.text("new-threshold")));
}

Status read_plan(const Options& options, RescoreRequest& request) {
  const std::string text = options.text("plan");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), request.plan);
  if (error != std::errc{} || end != text.data() + text.size() || request.plan == 0) {
    return usage(fmt::format("--plan: \"{}\" is no number of items: --plan 200", text));
  }
  if (request.columns.item.empty()) {
    return usage("--plan needs --item: the column that names the items to score");
  }
  for (const char* other : {"new-threshold", "weight", "svg"}) {
    if (options.has(other)) return usage(fmt::format("--{} has no meaning with --plan", other));
  }
  if (request.format != "table" && request.format != "csv") {
    return usage(fmt::format("--format {}: a plan is printed as csv", request.format));
  }
  request.columns.new_score.clear();  // Items to be scored have none yet.
  request.columns.distinct_items = true;
  return ok();
}

Result<RescoreRequest> read_request(const Options& options) {
  RescoreRequest request;
  auto input = score_input_of(options);
  if (!input) return std::move(input).error();
  request.input = *std::move(input);
  request.columns = {options.text("feed"), options.text("item"), options.text("old"),
                     options.text("new"), options.text("weight")};
  request.svg_folder = options.text("svg");
  request.format = options.text("format");
  if (request.columns.old_score.empty()) {
    return usage("--old is needed: the column of the old judge's scores");
  }
  if (options.has("plan")) {
    Status status = read_plan(options, request);
    if (!status) return std::move(status).error();
    return request;
  }
  if (request.columns.new_score.empty()) {
    return usage("--new is needed: the column of the new judge's scores");
  }
  if (Status status = read_terms(options, request); !status) return std::move(status).error();
  if (request.format == "csv") return usage("--format csv: only a plan is printed as csv");
  return request;
}

void say(Shell& shell, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) shell.err << "note: " << note << "\n";
}

// False where one couldn't be written; said on standard error.
bool write_pictures(const RescoreRequest& request, const RescoreReport& report,
                    const JudgeNames& names, Shell& shell) {
  std::error_code fault;
  const std::filesystem::path folder = request.svg_folder;
  std::filesystem::create_directories(folder, fault);
  const std::vector<std::string> files = svg_file_names(report.feeds);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = (folder / files[i]).string();
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << feed_svg(report.feeds[i], report.terms, names);
    file.close();
    if (file) continue;
    shell.err << fmt::format("outcomed: --svg: can't write {}\n", path);
    return false;
  }
  shell.err << fmt::format("note: {} {} in {}\n", files.size(),
                           files.size() == 1 ? "picture" : "pictures", request.svg_folder);
  return true;
}

ExitStatus print_plan(const RescoreRequest& request, const ScoreRows& rows, Shell& shell) {
  if (rows.items.empty()) {
    return usage_error(shell, request.input.origin + ": no row has an item and an old score");
  }
  const SamplingPlan plan = plan_sample(rows.items, request.plan);
  shell.out << plan_csv(plan, rows.items);
  say(shell, plan_notes(plan));
  return ExitStatus::ok;
}

// From here on it doesn't matter where the rows came from.
ExitStatus print_report(const RescoreRequest& request, const ScoreRows& rows, Shell& shell) {
  const auto report = rescore(rows.items, request.terms);
  if (!report) {
    return usage_error(shell, fmt::format("{}: {}", request.input.origin, report.error().message));
  }
  const JudgeNames names = {request.columns.old_score, request.columns.new_score};
  if (request.format == "json") {
    shell.out << rescore_json(*report, names, rows) << "\n";
  } else if (request.format == "markdown") {
    shell.out << to_markdown(report_text(*report, names));
  } else {
    print(shell.out, report_text(*report, names));
  }
  if (request.svg_folder.empty() || write_pictures(request, *report, names, shell)) {
    return ExitStatus::ok;
  }
  return ExitStatus::io;
}

}  // namespace

ExitStatus run_rescore(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "rescore (--csv FILE | --sql QUERY | --table NAME) --feed COL --old COL --new COL "
      "--threshold T",
      "Compares two judges' scores of the same items, feed by feed and pooled: rank agreement,\n"
      "mean shift, decisions of the new judge against those of the old one, and the threshold\n"
      "that keeps the old share. With --plan N it prints which N items to have scored anew, so\n"
      "that all of the old scale is covered; their weights, given back by --weight, lead from\n"
      "there to the natural stream. --sql and --table ask a source of kind postgres of the\n"
      "configuration, read-only and within its limits; COL is then a column of the answer.",
      "outcomed rescore --csv scores.csv --feed feed --old gpt4 --new gpt5 --threshold 7\n"
      "  outcomed rescore --table public.scores --feed feed --old gpt4 --new gpt5 --threshold 7\n"
      "  outcomed rescore --sql @pairs.sql --source ledger --old gpt4 --new gpt5 --threshold 7\n"
      "  outcomed rescore --csv scores.csv --feed feed --item id --old gpt4 --plan 200 > plan.csv");
  add_score_input_options(options);
  options.value("feed", "column that names the feed (default: all rows are one feed)")
      .value("item", "column that names the item: to find repeats, and for --plan")
      .value("old", "column of the old judge's scores")
      .value("new", "column of the new judge's scores")
      .value("threshold,t", "an item passes with the old judge from this score on")
      .value("new-threshold", "with the new judge from this one on (default: the same)")
      .value("weight", "column of weights, as --plan gives them")
      .value("plan", "print a plan of this many items as CSV, in place of the report")
      .value("svg", "write one picture for each feed into this folder")
      .format({"table", "json", "markdown", "csv"});
  if (const auto end = options.parse(arguments, shell)) return *end;
  const auto request = read_request(options);
  if (!request) return usage_error(shell, request.error().message);
  ScoreRows rows;
  if (const auto end = read_scores(request->input, options, request->columns, shell, rows)) {
    return *end;
  }
  say(shell, skipped_text(rows));
  say(shell, rows.notes);
  return request->plan > 0 ? print_plan(*request, rows, shell)
                           : print_report(*request, rows, shell);
}

}  // namespace outcomed
