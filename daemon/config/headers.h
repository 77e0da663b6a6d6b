// Which HTTP headers a configuration may add, and how.
#pragma once

#include <string_view>

#include "queries/base/result.h"
#include "queries/base/secret.h"

namespace outcomed {

// "file:…", "env:…" or "cred:…".
bool is_reference(std::string_view text);

// Refuses names that are no tokens, headers that outcomed sets itself, line breaks in values, and
// credentials written out. Messages never repeat the value.
Status check_header(std::string_view name, const SecretRef& value);

}  // namespace outcomed
