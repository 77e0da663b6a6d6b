#include "daemon/config/problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/config/named_files.h"
#include "daemon/config/words.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

using nlohmann::ordered_json;

bool is_plain_word(std::string_view text) {
  return !text.empty() && text.size() <= 60 && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-';
  });
}

ordered_json list_of(const std::vector<ConfigProblem>& problems) {
  ordered_json list = ordered_json::array();
  for (const ConfigProblem& problem : problems) {
    list.push_back({{"file", problem.file},
                    {"line", problem.line},
                    {"column", problem.column},
                    {"path", problem.path},
                    {"message", problem.message},
                    {"hint", problem.hint}});
  }
  return list;
}

}  // namespace

void sort_problems(std::vector<ConfigProblem>& problems) {
  std::ranges::stable_sort(problems);
  const auto rest = std::ranges::unique(problems);
  problems.erase(rest.begin(), rest.end());
}

std::string to_text(const ConfigProblem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) text += fmt::format(":{}:{}", problem.line, problem.column);
  if (!problem.path.empty()) text += ": " + problem.path;
  text += ": " + problem.message;
  if (!problem.hint.empty()) text += "; " + problem.hint;
  return escape_controls(text);
}

std::string to_text(const std::vector<ConfigProblem>& problems) {
  std::string text;
  for (const ConfigProblem& problem : problems) text += to_text(problem) + '\n';
  return text;
}

std::string to_json(const std::vector<ConfigProblem>& problems,
                    const std::vector<ConfigProblem>& notes, std::size_t rules,
                    std::size_t signals) {
  const ordered_json all = {{"problems", list_of(problems)},
                            {"notes", list_of(notes)},
                            {"rules", rules},
                            {"signals", signals}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

void ProblemSink::add(Place place, std::string path, std::string message, std::string hint) {
  out_->push_back(
      {file_, place.line, place.column, std::move(path), std::move(message), std::move(hint)});
}

void ProblemSink::add(Place place, std::string path, const Error& error) {
  const std::size_t split = error.message.rfind("; ");
  if (split == std::string::npos) return add(place, std::move(path), error.message);
  add(place, std::move(path), error.message.substr(0, split), error.message.substr(split + 2));
}

void ProblemSink::names_file(Place place, std::string path, std::string name) {
  if (named_files_ == nullptr) return;
  named_files_->push_back({file_, place, std::move(path), std::move(name)});
}

bool ProblemSink::has_problem_at(std::string_view path, std::size_t first) const {
  return std::any_of(out_->begin() + static_cast<std::ptrdiff_t>(std::min(first, out_->size())),
                     out_->end(), [&](const ConfigProblem& problem) {
                       if (!problem.path.starts_with(path)) return false;
                       const char next =
                           problem.path.size() > path.size() ? problem.path[path.size()] : '.';
                       return next == '.' || next == '[';
                     });
}

std::string join_path(std::string_view path, std::string_view key) {
  std::string text(path);
  if (is_plain_word(key)) {
    if (!text.empty()) text += '.';
    return text + std::string(key);
  }
  return text + "[" + in_quotes(key) + "]";
}

std::string item_path(std::string_view path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

}  // namespace outcomed
