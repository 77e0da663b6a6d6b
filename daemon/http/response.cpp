#include "daemon/http/response.h"

#include <microhttpd.h>
#include <strings.h>

namespace outcomed {
namespace {

// The page's files come from here and nowhere else; nothing is framed, guessed or kept.
constexpr std::pair<const char*, const char*> kSecurityHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

bool sets(const HttpReply& reply, const char* name) {
  for (const auto& header : reply.headers) {
    if (strcasecmp(header.first.c_str(), name) == 0) return true;
  }
  return false;
}

void delete_body(void* body) { delete static_cast<std::string*>(body); }

}  // namespace

MHD_Response* make_response(HttpReply reply, bool close_connection) {
  auto* body = new std::string(std::move(reply.body));
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      body->size(), body->data(), &delete_body, body);
  if (response == nullptr) {
    delete body;
    return nullptr;
  }
  // A header that libmicrohttpd refuses (there is a line break in it) is left out.
  MHD_add_response_header(response, "Content-Type", reply.content_type.c_str());
  for (const auto& [name, value] : kSecurityHeaders) {
    if (!sets(reply, name)) MHD_add_response_header(response, name, value);
  }
  for (const auto& [name, value] : reply.headers) {
    MHD_add_response_header(response, name.c_str(), value.c_str());
  }
  if (close_connection) MHD_add_response_header(response, "Connection", "close");
  return response;
}

}  // namespace outcomed
