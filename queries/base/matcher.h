// Label matchers in Alertmanager's syntax: name="value", name!="value", name=~"regex",
// name!~"regex". Regular expressions are RE2 and anchored at both ends; a missing label is "".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/result.h"

namespace re2 {
class RE2;
}

namespace outcomed {

class Matcher {
 public:
  enum class Op { equal, not_equal, match, not_match };

  static Result<Matcher> make(std::string name, Op op, std::string value);
  // One matcher: `model=~"gpt-.*"`. The value may stand without quotes, as in Alertmanager.
  static Result<Matcher> parse(std::string_view text);

  [[nodiscard]] bool matches(std::string_view value) const;
  [[nodiscard]] bool matches(const Labels& labels) const { return matches(labels.get(name_)); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& value() const { return value_; }
  [[nodiscard]] Op op() const { return op_; }
  // model=~"gpt-.*", with PromQL's escapes.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Matcher& a, const Matcher& b) {
    return a.name_ == b.name_ && a.op_ == b.op_ && a.value_ == b.value_;
  }

 private:
  Matcher(std::string name, Op op, std::string value, std::shared_ptr<const re2::RE2> regex);

  std::string name_;
  Op op_;
  std::string value_;
  std::shared_ptr<const re2::RE2> regex_;
};

using Matchers = std::vector<Matcher>;

bool all_match(const Matchers& matchers, const Labels& labels);

// A PromQL vector selector: `http_requests_total{code=~"5..", job="x"}`; no functions, no range.
struct Selector {
  std::string metric;
  Matchers matchers;

  static Result<Selector> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Selector&, const Selector&) = default;
};

}  // namespace outcomed
