// simdjson without its throwing conversions, so that an error code that nobody looked at does not
// compile. For .cpp files only.
#pragma once

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>
