// What is wrong with a configuration, and where.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "queries/base/result.h"

namespace outcomed {

// Counted from 1, columns in characters; 0 where there is no place.
struct Place {
  int line = 0;
  int column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct ConfigProblem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string path;     // rules[2].above, counted from 0; empty for the file as a whole.
  std::string message;  // What is wrong.
  std::string hint;     // What to do; may be empty.

  friend auto operator<=>(const ConfigProblem&, const ConfigProblem&) = default;
};

// By file, line and column; exact repeats go.
void sort_problems(std::vector<ConfigProblem>& problems);

// "outcomed.yaml:41:12: rules[2].above: 10 is not a share; did you mean 10%?": always one line.
std::string to_text(const ConfigProblem& problem);
// One line for each.
std::string to_text(const std::vector<ConfigProblem>& problems);
// {"problems": [{"file","line","column","path","message","hint"}], "notes": [the same], "rules": 5,
// "signals": 9}
std::string to_json(const std::vector<ConfigProblem>& problems,
                    const std::vector<ConfigProblem>& notes, std::size_t rules,
                    std::size_t signals);

struct NamedFile;

// Collects the problems of one file, and the files that it names where somebody asks for them.
class ProblemSink {
 public:
  ProblemSink(std::string file, std::vector<ConfigProblem>& out,
              std::vector<NamedFile>* named_files = nullptr)
      : file_(std::move(file)), out_(&out), named_files_(named_files) {}

  void add(Place place, std::string path, std::string message, std::string hint = {});
  // The message of the parsers below is "what; remedy": the remedy becomes the hint.
  void add(Place place, std::string path, const Error& error);
  void names_file(Place place, std::string path, std::string name);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::size_t size() const { return out_->size(); }
  // So many problems that looking for what was meant is no longer worth the time.
  [[nodiscard]] bool is_crowded() const { return out_->size() > 300; }
  // Whether a problem of this path, or of something below it, was added since `first`.
  [[nodiscard]] bool has_problem_at(std::string_view path, std::size_t first) const;

 private:
  std::string file_;
  std::vector<ConfigProblem>* out_;
  std::vector<NamedFile>* named_files_;
};

// "rules[0]" and "window" give "rules[0].window"; names that aren't plain words are quoted.
std::string join_path(std::string_view path, std::string_view key);
std::string item_path(std::string_view path, std::size_t index);

}  // namespace outcomed
