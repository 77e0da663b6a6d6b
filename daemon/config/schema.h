// What a configuration may hold, made from the same declarations that load it: a JSON Schema for
// editors and the reference page.
#pragma once

#include <string>

#include "daemon/config/catalogs.h"

namespace outcomed {

// JSON Schema, draft 7, indented, with a final newline. Plain YAML values are typed as an editor's
// YAML parser sees them: `5%` is a string, `0.1` a number.
std::string config_schema(const Catalogs& catalogs);

// docs/configuration.md.
std::string reference_page(const Catalogs& catalogs);

}  // namespace outcomed
