#include "daemon/commands/options.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <ostream>

#include "daemon/plugins.h"

namespace outcomed {

namespace po = boost::program_options;

struct Options::Parts {
  std::string usage;
  std::string text;
  std::string example;
  po::options_description described{"Options"};
  po::options_description hidden;
  po::positional_options_description positional;
  po::variables_map values;
  std::vector<std::string> formats;
};

namespace {

// "a, b or c".
std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

Options::Options(std::string usage, std::string text, std::string example)
    : parts_(std::make_unique<Parts>()) {
  parts_->usage = std::move(usage);
  parts_->text = std::move(text);
  parts_->example = std::move(example);
  parts_->described.add_options()("help,h", "show this help");
}

Options::~Options() = default;

Options& Options::value(const char* name, const char* help) {
  parts_->described.add_options()(name, po::value<std::string>()->value_name(""), help);
  return *this;
}

Options& Options::value(const char* name, const std::string& by_default, const char* help) {
  parts_->described.add_options()(name, po::value<std::string>()->default_value(by_default), help);
  return *this;
}

Options& Options::flag(const char* name, const char* help) {
  parts_->described.add_options()(name, po::bool_switch(), help);
  return *this;
}

Options& Options::list(const char* name, const char* help) {
  parts_->described.add_options()(name, po::value<std::vector<std::string>>()->value_name(""),
                                  help);
  return *this;
}

Options& Options::positional(const char* name, int most, const char* help) {
  parts_->hidden.add_options()(name, po::value<std::vector<std::string>>(), help);
  parts_->positional.add(name, most);
  return *this;
}

Options& Options::format(std::vector<std::string> choices) {
  parts_->formats = std::move(choices);
  return value("format,f", parts_->formats.front(), alternatives(parts_->formats).c_str());
}

std::optional<ExitStatus> Options::parse(const std::vector<std::string>& arguments, Shell& shell) {
  try {
    po::options_description all;
    all.add(parts_->described).add(parts_->hidden);
    po::store(
        po::command_line_parser(arguments)
            .options(all)
            .positional(parts_->positional)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        parts_->values);
    po::notify(parts_->values);
  } catch (const po::error& e) {
    const std::string_view usage = parts_->usage;
    return usage_error(shell, fmt::format("{}; see outcomed {} --help", e.what(),
                                          usage.substr(0, usage.find_first_of(" ["))));
  }
  if (parts_->values.count("help") == 0) {
    const auto& formats = parts_->formats;
    if (formats.empty() || std::ranges::find(formats, text("format")) != formats.end()) {
      return std::nullopt;
    }
    return usage_error(shell, fmt::format("--format: \"{}\" is none of {}", text("format"),
                                          fmt::join(formats, ", ")));
  }
  shell.out << "Usage: outcomed " << parts_->usage << "\n\n"
            << parts_->text << "\n\n"
            << parts_->described << "\nExample:\n  " << parts_->example << "\n";
  return ExitStatus::ok;
}

bool Options::has(const char* name) const {
  const po::variable_value& value = parts_->values[name];
  if (value.empty()) return false;
  const auto* on = boost::any_cast<bool>(&value.value());
  return on == nullptr || *on;
}

std::string Options::text(const char* name) const {
  return has(name) ? parts_->values[name].as<std::string>() : std::string();
}

std::vector<std::string> Options::texts(const char* name) const {
  return has(name) ? parts_->values[name].as<std::vector<std::string>>()
                   : std::vector<std::string>();
}

Result<std::optional<Timestamp>> Options::time(const char* name, Timestamp now) const {
  const std::string written = text(name);
  if (written.empty()) return std::optional<Timestamp>();
  if (written == "now") return std::optional(now);
  if (written.starts_with("now-")) {
    const auto back = parse_duration(std::string_view(written).substr(4));
    if (!back) return Error{back.error()}.while_doing(fmt::format("--{}", name));
    return std::optional(now - *back);
  }
  const auto at = parse_timestamp(written);
  if (!at) {
    return Error{ErrorKind::invalid, fmt::format("--{}: {} (or now-2h)", name, at.error().message)};
  }
  return std::optional(*at);
}

Result<Options::Span> Options::span(Timestamp now, const char* from) const {
  auto begin = time(from, now);
  if (!begin) return std::move(begin).error();
  auto end = time("to", now);
  if (!end) return std::move(end).error();
  if (*begin && *end && **end <= **begin) {
    return Error{ErrorKind::invalid,
                 fmt::format("there is nothing between --{} and --to: {} is not before {}", from,
                             format_rfc3339(**begin), format_rfc3339(**end))};
  }
  return Span{*begin, *end};
}

Status sensible_span(TimeRange range, const char* from) {
  constexpr Duration kLongest = 3653 * std::chrono::hours(24);
  if (range.end <= range.begin) {
    return Error{ErrorKind::invalid, fmt::format("there is nothing between --{} and --to", from)};
  }
  if (range.length() > kLongest) {
    return Error{ErrorKind::invalid,
                 fmt::format("--{} {} and --to {} are more than ten years apart", from,
                             format_rfc3339(range.begin), format_rfc3339(range.end))};
  }
  return ok();
}

ExitStatus usage_error(Shell& shell, const std::string& message) {
  shell.err << "outcomed: " << message << "\n";
  return ExitStatus::usage;
}

std::optional<ExitStatus> load_or_report(const std::string& path, Shell& shell,
                                         LoadedConfig& loaded) {
  loaded = load_config(path, catalogs());
  if (loaded.ok()) return std::nullopt;
  shell.err << to_text(loaded.problems);
  return ExitStatus::config;
}

bool load_to_ask(const std::string& path, Shell& shell, LoadedConfig& loaded) {
  if (!load_or_report(path, shell, loaded)) return true;
  shell.err << fmt::format(
      "note: the file has problems; the daemon that runs is asked at {}, with what it has in "
      "force\n",
      loaded.config.http.listen);
  return false;
}

ExitStatus source_failed(Shell& shell, const Error& error) {
  shell.err << "outcomed: " << error.message << "\n";
  return ExitStatus::unavailable;
}

ExitStatus status_of(const Error& error) {
  return error.kind == ErrorKind::invalid ? ExitStatus::config : ExitStatus::unavailable;
}

}  // namespace outcomed
