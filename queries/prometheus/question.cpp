#include "queries/prometheus/question.h"

#include <algorithm>

#include "queries/counters/counter_reader.h"

namespace outcomed {
namespace {

std::string alternation(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += '|';
    text += word;
  }
  return text;
}

// The text as a regular expression that matches it and nothing else.
std::string quote_pattern(std::string_view text) {
  constexpr std::string_view kSpecial = "\\.+*?()|[]{}^$";
  std::string quoted;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

// Names of metrics hold nothing that a regular expression would read otherwise.
Matcher name_matcher(const std::vector<std::string>& metrics, bool equal) {
  auto made = equal ? Matcher::make("__name__", Matcher::Op::equal, metrics.front())
                    : Matcher::make("__name__", Matcher::Op::match, alternation(metrics));
  // Refused only where the pattern is too long, which split_long prevents.
  return *std::move(made);
}

// Matcher takes patterns of up to 1024 characters; many metrics make several questions.
constexpr std::size_t kLongestPattern = 1000;

void split_long(std::vector<Question>& questions) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    std::size_t size = 0;
    std::size_t kept = 0;
    const std::vector<std::string>& metrics = questions[i].metrics;
    while (kept < metrics.size() && (kept == 0 || size + metrics[kept].size() < kLongestPattern)) {
      size += metrics[kept++].size() + 1;
    }
    if (kept == metrics.size()) continue;
    const auto middle = metrics.begin() + static_cast<std::ptrdiff_t>(kept);
    Question rest{{middle, metrics.end()}, questions[i].matchers};
    questions[i].metrics.resize(kept);
    questions.insert(questions.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(rest));
  }
}

}  // namespace

std::string Question::selector() const {
  if (metrics.size() == 1) return Selector{metrics.front(), matchers}.to_string();
  // As text: the pattern is the server's to compile. (Names need no quoting.)
  std::string text = "{__name__=~\"" + alternation(metrics) + '"';
  for (const Matcher& matcher : matchers) text += ',' + matcher.to_string();
  return text + "}";
}

std::string Question::range_selector(Duration range) const {
  return selector() + "[" + format_duration(range) + "]";
}

Matchers Question::all_matchers() const {
  Matchers all{name_matcher(metrics, metrics.size() == 1)};
  all.insert(all.end(), matchers.begin(), matchers.end());
  return all;
}

std::vector<Question> make_questions(const std::vector<Selector>& selectors,
                                     const Matchers& extra) {
  const auto is_whole = [&](const std::string& metric) {
    return std::ranges::any_of(selectors, [&](const Selector& selector) {
      return selector.metric == metric && selector.matchers.empty();
    });
  };
  std::vector<Question> questions;
  for (const Selector& selector : selectors) {
    if (!selector.matchers.empty() && is_whole(selector.metric)) continue;
    Matchers matchers = selector.matchers;
    for (const Matcher& matcher : extra) {
      if (std::ranges::find(matchers, matcher) == matchers.end()) matchers.push_back(matcher);
    }
    auto found = std::ranges::find(questions, matchers, &Question::matchers);
    if (found == questions.end()) {
      questions.push_back({{}, std::move(matchers)});
      found = std::prev(questions.end());
    }
    found->metrics.push_back(selector.metric);
  }
  for (Question& question : questions) {
    std::ranges::sort(question.metrics);
    const auto repeated = std::ranges::unique(question.metrics);
    question.metrics.erase(repeated.begin(), repeated.end());
  }
  split_long(questions);
  return questions;
}

Question target_question(const std::vector<std::string>& jobs, const Matchers& extra) {
  Question question{{std::string(kProcessStartMetric), std::string(kUpMetric)}, extra};
  if (jobs.empty()) return question;
  std::vector<std::string> quoted;
  for (const std::string& job : jobs) quoted.push_back(quote_pattern(job));
  auto matcher = Matcher::make("job", Matcher::Op::match, alternation(quoted));
  // Too many jobs for one pattern: the answer is larger, and still right.
  if (matcher) question.matchers.push_back(*std::move(matcher));
  return question;
}

}  // namespace outcomed
