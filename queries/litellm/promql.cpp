#include "queries/litellm/promql.h"

#include <fmt/core.h>

#include <set>

#include "queries/error_class.h"
#include "queries/litellm/exception_names.h"

namespace outcomed::litellm {
namespace {

constexpr std::string_view kErrorClass = "error_class";

// "(.*[.])?(A|B)"; `of_provider`: only with a provider's prefix.
std::string names_regex(const std::set<std::string_view>& classes, bool of_provider) {
  std::string names;
  for (const ExceptionName& name : kExceptionNames) {
    if (!classes.contains(name.error_class)) continue;
    names += (names.empty() ? "" : "|") + std::string(name.exception);
  }
  return fmt::format("{}({})", of_provider ? "(.*[.])" : "(.*[.])?", names);
}

LabelMapping by_class(std::string_view error_class, std::string regex) {
  return {std::string(kErrorClass), "exception_class", std::move(regex), std::string(error_class)};
}

LabelMapping by_status(std::string_view error_class, std::string regex) {
  return {std::string(kErrorClass), "exception_status", std::move(regex), std::string(error_class)};
}

std::set<std::string_view> all_classes() {
  std::set<std::string_view> classes;
  for (const ExceptionName& name : kExceptionNames) classes.insert(name.error_class);
  return classes;
}

}  // namespace

std::vector<LabelMapping> error_class_mappings() {
  using namespace error_class;  // NOLINT: names of the classes only.
  std::vector<LabelMapping> mappings = {
      {std::string(kErrorClass), "", "", std::string(kUnknown)},
      by_status(kInvalidRequest, "400|413|422"),
      by_status(kAuthentication, "401|403"),
      by_status(kQuotaExhausted, "402"),
      by_status(kModelNotFound, "404"),
      by_status(kDeadlineExceeded, "408|504"),
      by_status(kRateLimited, "429"),
      by_status(kPolicyRejection, "451"),
      by_status(kProviderUnavailable, "500|502|503|529"),
  };
  for (const std::string_view error_class : all_classes()) {
    mappings.push_back(by_class(error_class, names_regex({error_class}, false)));
  }
  // Without a provider in front these are the gateway's own limits.
  mappings.push_back(by_class(kRouterRefusal, "RateLimitError|ValueError|(.*[.])?Router.*"));
  return mappings;
}

Matcher exception_matcher(const Matchers& on_error_class) {
  std::set<std::string_view> inside;
  std::set<std::string_view> outside;
  for (const std::string_view error_class : all_classes()) {
    bool matches = true;
    for (const Matcher& matcher : on_error_class) matches &= matcher.matches(error_class);
    (matches ? inside : outside).insert(error_class);
  }
  // Where what has no class of ours (unknown) belongs to the matching side, name the others.
  bool unknown_matches = true;
  for (const Matcher& matcher : on_error_class) {
    unknown_matches &= matcher.matches(error_class::kUnknown);
  }
  if (unknown_matches) {
    return *Matcher::make("exception_class", Matcher::Op::not_match, names_regex(outside, false));
  }
  return *Matcher::make("exception_class", Matcher::Op::match, names_regex(inside, false));
}

}  // namespace outcomed::litellm
