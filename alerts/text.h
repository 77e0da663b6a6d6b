// Untrusted text made fit for messages: label values come from whoever calls the gateway.
#pragma once

#include <string>
#include <string_view>

#include "queries/base/labels.h"
#include "queries/base/utf8.h"

namespace outcomed {

// At most `max_bytes`, cut on a code-point border and ended by "…" where something was cut. `text`
// is valid UTF-8 and max_bytes at least 3.
std::string cut_text(std::string text, std::size_t max_bytes);

// Line breaks, tabs, other control characters and U+2028/2029 become blanks, so that a value can't
// pose as a line of its own.
std::string one_line(std::string_view text);

// The nearest classic label name, [a-zA-Z_][a-zA-Z0-9_]*: other bytes become '_', a leading digit
// gets a '_' before it, and nothing becomes "_".
std::string label_name(std::string_view text);
bool is_label_name(std::string_view text);

// http:// or https://, a host with an optional port, whole percent escapes, and no blank, control
// character or quote: what may be offered as a link, and what Alertmanager takes for a URI.
bool is_web_url(std::string_view text);

}  // namespace outcomed
