// The preset's judgement of exceptions, said in PromQL: for rule files, which can't call our code.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/base/matcher.h"

namespace outcomed::litellm {

// A question about a failure that only its exception_class and exception_status decide.
using ExceptionTest =
    std::function<bool(std::string_view exception_class, std::string_view exception_status)>;

// One exception of each kind that classify() can tell from the others: class and status.
std::vector<std::pair<std::string_view, std::string_view>> exception_samples();

// Selectors that take what `wanted` holds for, each series once: the sum over them is the count.
// One without matchers where it holds for all, none where it holds for nothing. They are found by
// asking `wanted` about the samples, so they say what it says.
std::vector<Matchers> exception_selectors(const ExceptionTest& wanted);

}  // namespace outcomed::litellm
