// The preset's label rules, said in PromQL: for rule files, which can't call our code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/matcher.h"

namespace outcomed::litellm {

// label_replace(v, target, replacement, source, regex); applied in order, the last that matches
// wins.
struct LabelMapping {
  std::string target;
  std::string source;
  std::string regex;
  std::string replacement;
};

// exception_class and exception_status -> error_class. The status decides first and the class
// overrides it. One known difference to classify(): "HTTPException" with 429 is read as
// rate_limited.
std::vector<LabelMapping> error_class_mappings();

// What a matcher on error_class means for exception_class: the exceptions of all classes that match
// (or, negated, of those that don't).
Matcher exception_matcher(const Matchers& on_error_class);

}  // namespace outcomed::litellm
