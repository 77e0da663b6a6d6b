#include "queries/litellm/promql.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "queries/litellm/exception_names.h"

namespace outcomed::litellm {
namespace {

// Names of exceptions that are judged alike, as a tree: "all others" above the names they leave
// out.
struct Pattern {
  std::string name;  // A regular expression, without a provider.
  bool of_provider = false;
  std::string sample;
  std::optional<std::size_t> parent;
};

// Any status that is no HTTP code: "None", or no label at all.
constexpr std::string_view kNoStatus;

std::vector<Pattern> make_patterns() {
  std::vector<Pattern> patterns;
  // Each name without a provider and, as the next pattern, with one; so are those above it.
  const auto add = [&](std::string name, const std::string& sample,
                       std::optional<std::size_t> parent) {
    patterns.push_back({name, false, sample, parent});
    if (parent) ++*parent;
    patterns.push_back({std::move(name), true, "Provider." + sample, parent});
    return patterns.size() - 2;
  };
  const std::string router(kRouterPrefix);
  const std::size_t any = add("[^.]*", "NoSuchError", std::nullopt);
  const std::size_t of_router = add(router + "[^.]*", router + "NoSuchError", any);
  const auto add_name = [&](std::string_view name) {
    add(std::string(name), std::string(name), name.starts_with(router) ? of_router : any);
  };
  for (const ExceptionName& name : kExceptionNames) add_name(name.exception);
  for (const std::string_view name : kOtherExceptions) add_name(name);
  return patterns;
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = make_patterns();
  return all;
}

// For each of kStatuses, and last for any other status, whether it is wanted.
using WantedStatuses = std::vector<bool>;

std::vector<std::string> make_status_samples() {
  std::vector<std::string> samples;
  for (const StatusRange& range : kStatuses) samples.push_back(fmt::format("{}", range.first));
  samples.emplace_back(kNoStatus);
  return samples;
}

const std::vector<std::string>& status_samples() {
  static const std::vector<std::string> samples = make_status_samples();
  return samples;
}

WantedStatuses wanted_statuses(const Pattern& pattern, const ExceptionTest& wanted) {
  WantedStatuses statuses;
  for (const std::string& status : status_samples()) {
    statuses.push_back(wanted(pattern.sample, status));
  }
  return statuses;
}

bool wants_any(const WantedStatuses& statuses) {
  return std::ranges::find(statuses, true) != statuses.end();
}

using PatternList = std::vector<std::size_t>;

bool lists(const PatternList& list, std::size_t pattern) {
  return std::ranges::find(list, pattern) != list.end();
}

// front(A|B) or, of one name, frontA.
void add_part(std::vector<std::string>& parts, std::string_view front,
              const std::vector<std::string>& names) {
  if (names.empty()) return;
  const auto all = fmt::format("{}", fmt::join(names, "|"));
  const bool alone = names.size() == 1 || front.empty();
  parts.push_back(alone ? fmt::format("{}{}", front, all) : fmt::format("{}({})", front, all));
}

// A|B|(.*[.])?(C|D)|.*[.](E|F): without a provider, with or without, with one.
std::string names_regex(const PatternList& list) {
  std::vector<std::string> bare;
  std::vector<std::string> either;
  std::vector<std::string> of_provider;
  for (const std::size_t i : list) {
    const Pattern& pattern = patterns()[i];
    if (!pattern.of_provider) {
      (lists(list, i + 1) ? either : bare).push_back(pattern.name);
    } else if (!lists(list, i - 1)) {
      of_provider.push_back(pattern.name);
    }
  }
  std::vector<std::string> parts;
  add_part(parts, "", bare);
  add_part(parts, "(.*[.])?", either);
  add_part(parts, ".*[.]", of_provider);
  return fmt::format("{}", fmt::join(parts, "|"));
}

Matcher match_names(Matcher::Op op, const PatternList& list) {
  return *Matcher::make("exception_class", op, names_regex(list));
}

Matchers status_matchers(const WantedStatuses& statuses) {
  const bool others = statuses.back();
  std::vector<std::string_view> listed;
  for (std::size_t i = 0; i < kStatuses.size(); ++i) {
    if (statuses[i] != others) listed.push_back(kStatuses[i].regex);
  }
  if (listed.empty()) return {};
  return {*Matcher::make("exception_status", others ? Matcher::Op::not_match : Matcher::Op::match,
                         fmt::format("{}", fmt::join(listed, "|")))};
}

// One selector in the making: the patterns that it takes, without some that lie below them.
struct Choice {
  WantedStatuses statuses;
  PatternList taken;
  PatternList except;
};

bool is_below(std::size_t pattern, const PatternList& list) {
  for (auto at = patterns()[pattern].parent; at; at = patterns()[*at].parent) {
    if (lists(list, *at)) return true;
  }
  return false;
}

class Choices {
 public:
  explicit Choices(const ExceptionTest& wanted) {
    for (std::size_t i = 0; i < patterns().size(); ++i) {
      const Pattern& pattern = patterns()[i];
      const WantedStatuses statuses = wanted_statuses(pattern, wanted);
      if (pattern.parent) {
        Choice* const above = taker_[*pattern.parent];
        if (above != nullptr ? above->statuses == statuses : !wants_any(statuses)) {
          taker_.push_back(above);
          continue;
        }
        if (above != nullptr) above->except.push_back(i);
      }
      taker_.push_back(wants_any(statuses) ? take(i, statuses) : nullptr);
    }
  }

  [[nodiscard]] const std::deque<Choice>& all() const { return choices_; }

 private:
  Choice* take(std::size_t pattern, const WantedStatuses& statuses) {
    // What a selector leaves out can't be taken by the same one.
    const auto fits = [&](const Choice& choice) {
      return choice.statuses == statuses && !is_below(pattern, choice.taken);
    };
    auto found = std::ranges::find_if(choices_, fits);
    if (found == choices_.end()) {
      found = choices_.insert(choices_.end(), {statuses, {}, {}});
    }
    found->taken.push_back(pattern);
    return &*found;
  }

  std::deque<Choice> choices_;  // Grows at its end only, so that pointers stay.
  std::vector<Choice*> taker_;  // By pattern; null: nobody wants it.
};

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> exception_samples() {
  std::vector<std::pair<std::string_view, std::string_view>> samples;
  for (const Pattern& pattern : patterns()) {
    for (const std::string& status : status_samples()) samples.emplace_back(pattern.sample, status);
  }
  return samples;
}

std::vector<Matchers> exception_selectors(const ExceptionTest& wanted) {
  std::vector<Matchers> selectors;
  const Choices choices(wanted);
  for (const Choice& choice : choices.all()) {
    Matchers matchers;
    // The first two patterns together are every name.
    const bool takes_every_name = lists(choice.taken, 0) && lists(choice.taken, 1);
    if (!takes_every_name) matchers.push_back(match_names(Matcher::Op::match, choice.taken));
    if (!choice.except.empty()) {
      matchers.push_back(match_names(Matcher::Op::not_match, choice.except));
    }
    for (Matcher& status : status_matchers(choice.statuses)) matchers.push_back(std::move(status));
    selectors.push_back(std::move(matchers));
  }
  return selectors;
}

}  // namespace outcomed::litellm
