// What an HTTP answer means for a notification; the same for every receiver that speaks HTTP.
#pragma once

#include <optional>
#include <string_view>

#include "alerts/receiver.h"
#include "queries/base/http_client.h"

namespace outcomed {

// 2xx delivered; 408, 429 and 5xx retry, with what Retry-After asks for; 3xx rejected (redirects
// are never followed: the target was not configured); every other status rejected. No whole
// answer, a TLS failure or an unreadable credential: retry, since people repair these.
SendResult send_result_of(const Result<HttpResponse>& answer, Timestamp now);

// Whole or fractional seconds, or one of the three date forms of RFC 9110 5.6.7, of which `now` is
// taken off. A time that has passed is zero; text that is neither is nothing. At most one year.
std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now);

}  // namespace outcomed
