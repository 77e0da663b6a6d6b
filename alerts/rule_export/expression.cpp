#include "alerts/rule_export/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "queries/base/matcher.h"

namespace outcomed {
namespace {

// Labels of our own that only live inside an expression.
constexpr std::string_view kOwnPrefix = "outcomed_";
constexpr std::string_view kTermLabel = "outcomed_term";
constexpr std::size_t kLineLength = 90;

using Names = std::vector<std::string>;

bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string list(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::string own(std::string_view label) { return fmt::format("{}{}", kOwnPrefix, label); }

// head(body tail), with the body indented on lines of its own where one line would be long.
std::string enclose(std::string_view head, const std::string& body, std::string_view tail) {
  if (body.find('\n') == std::string::npos &&
      head.size() + body.size() + tail.size() < kLineLength) {
    return fmt::format("{}{}{}", head, body, tail);
  }
  std::string out = fmt::format("{}\n  ", head);
  for (const char c : body) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return fmt::format("{}\n{}", out, tail);
}

std::string sum_by(const Names& by, const std::string& vector) {
  return enclose(by.empty() ? "sum (" : fmt::format("sum by ({}) (", list(by)), vector, ")");
}

std::string label_replace(const std::string& vector, std::string_view target,
                          std::string_view replacement, std::string_view source,
                          std::string_view regex) {
  return enclose("label_replace(", vector,
                 fmt::format(", {}, {}, {}, {})", promql_string(target), promql_string(replacement),
                             promql_string(source), promql_string(regex)));
}

bool maps(const ExportTerm& term, const Names& by) {
  return std::ranges::any_of(
      term.labels, [&](const ExportMapping& mapping) { return contains(by, mapping.target); });
}

// A term's increase, summed by the signal's labels. Mapped labels are first built under names of
// our own: writing them in place can make two series equal, which PromQL refuses. Those names stay
// beside the signal's until the next sum.
std::string term_sum(const ExportTerm& term, const Names& by, const std::string& window) {
  const auto selector = Selector::parse(term.selector);
  std::string vector =
      fmt::format("increase({}[{}])", selector ? selector->to_string() : term.selector, window);
  if (!maps(term, by)) return sum_by(by, vector);
  Names own_names;
  for (const std::string& label : by) {
    own_names.push_back(own(label));
    bool named = false;
    for (const ExportMapping& m : term.labels) {
      if (m.target != label) continue;
      vector = label_replace(vector, own(label), m.replacement, m.source, m.regex);
      named = true;
    }
    if (!named) vector = label_replace(vector, own(label), "$1", label, "(.*)");
  }
  vector = sum_by(own_names, vector);
  for (const std::string& label : by) {
    vector = label_replace(vector, label, "$1", own(label), "(.*)");
  }
  return vector;
}

bool is_scaled(const ExportTerm& term) { return term.divisor > 1 || term.sign < 0; }

std::string scaled_sum(const ExportTerm& term, const Names& by, const std::string& window) {
  std::string text = term_sum(term, by, window);
  if (term.divisor > 1) text += fmt::format(" / {}", term.divisor);
  if (term.sign < 0) text = fmt::format("-1 * {}", text);
  return text;
}

// All terms together; where one has no series the others still count.
std::string total(const std::vector<ExportTerm>& terms, const Names& by,
                  const std::string& window) {
  if (terms.size() == 1) {
    std::string text = scaled_sum(terms[0], by, window);
    if (maps(terms[0], by)) return sum_by(by, text);
    return is_scaled(terms[0]) ? enclose("(", text, ")") : text;
  }
  std::string all;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    // Without a label that tells the terms apart, `or` would drop the second of two equal groups.
    if (i > 0) all += "\nor\n";
    all +=
        label_replace(scaled_sum(terms[i], by, window), kTermLabel, fmt::format("{}", i), "", "");
  }
  return sum_by(by, all);
}

// True if a series of `part` is always one of `whole`, too.
bool covers(const ExportTerm& whole, const ExportTerm& part) {
  const auto all = Selector::parse(whole.selector);
  const auto some = Selector::parse(part.selector);
  return all && some && whole.sign == 1 && all->metric == some->metric &&
         std::ranges::all_of(all->matchers, [&](const Matcher& m) {
           return std::ranges::find(some->matchers, m) != some->matchers.end();
         });
}

// Whether a group may have failures and no series among the requests.
bool may_lack_requests(const ExportRule& rule) {
  return !std::ranges::all_of(rule.failures, [&](const ExportTerm& failure) {
    return std::ranges::any_of(rule.requests,
                               [&](const ExportTerm& request) { return covers(request, failure); });
  });
}

std::string at_least(const std::string& vector, std::int64_t count) {
  return enclose("(", fmt::format("{} >= {}", vector, count), ")");
}

}  // namespace

std::string promql_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string alert_expression(const ExportRule& rule, const ExportTier& tier) {
  Names request_by;
  for (const std::string& label : rule.by) {
    if (!contains(rule.failure_labels, label)) request_by.push_back(label);
  }
  const bool splits = request_by.size() != rule.by.size();
  const std::string window = format_duration(rule.window);
  std::string failures = total(rule.failures, rule.by, window);
  std::string requests = total(rule.requests, request_by, window);
  if (rule.below && !splits) {
    failures = enclose("(", fmt::format("{}\nor\n0 * {}", failures, requests), ")");
  }
  if (may_lack_requests(rule)) {
    const std::string group_failures = total(rule.failures, request_by, window);
    requests = enclose("(", fmt::format("{}\nor\n{}", requests, group_failures), ")");
  }
  if (rule.min_failures > 0 && !rule.below) failures = at_least(failures, rule.min_failures);
  if (rule.min_requests > 0) requests = at_least(requests, rule.min_requests);
  const std::string on = splits ? fmt::format(" on ({}) group_left ()", list(request_by)) : "";
  return fmt::format("{}\n/{}\n{}\n{} {}", failures, on, requests, rule.below ? '<' : '>',
                     tier.threshold);
}

}  // namespace outcomed
