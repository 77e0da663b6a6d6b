#pragma once

#include "daemon/http/message.h"

struct MHD_Response;

namespace outcomed {

// libmicrohttpd's form of a reply, with the security headers that the reply doesn't set itself.
// Owned by the caller; null when memory is out.
MHD_Response* make_response(HttpReply reply, bool close_connection);

}  // namespace outcomed
