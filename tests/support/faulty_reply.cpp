// What a faulty server can answer.
#include <zlib.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

Reply in_mode(Reply::Mode mode, std::string body = {}, std::uint64_t amount = 0) {
  Reply reply;
  reply.mode = mode;
  reply.body = std::move(body);
  reply.amount = amount;
  return reply;
}

}  // namespace

Reply Reply::ok(std::string body) { return in_mode(Mode::normal, std::move(body)); }
Reply Reply::json(std::string body, int status) {
  return with_status(status, std::move(body)).with_header("Content-Type", "application/json");
}
Reply Reply::with_status(int status, std::string body) {
  Reply reply = ok(std::move(body));
  reply.status = status;
  return reply;
}
Reply Reply::redirect(int status, std::string location) {
  return with_status(status).with_header("Location", std::move(location));
}
Reply Reply::too_many_requests(std::string retry_after) {
  return with_status(429).with_header("Retry-After", std::move(retry_after));
}
Reply Reply::hang(std::string body) { return in_mode(Mode::hang, std::move(body)); }
Reply Reply::hang_after_headers(std::string body) {
  return in_mode(Mode::hang_after_headers, std::move(body));
}
Reply Reply::drip(std::string body, std::chrono::milliseconds between) {
  return in_mode(Mode::drip, std::move(body), static_cast<std::uint64_t>(between.count()));
}
Reply Reply::close() { return in_mode(Mode::close); }
Reply Reply::reset() { return in_mode(Mode::reset); }
Reply Reply::reset_after_headers() {
  return in_mode(Mode::reset_after_headers, std::string(1000, 'x'));
}
Reply Reply::truncated(std::string body, std::uint64_t missing_bytes) {
  return in_mode(Mode::truncate, std::move(body), missing_bytes);
}
Reply Reply::huge(std::uint64_t bytes) { return in_mode(Mode::huge, {}, bytes); }
Reply Reply::endless_headers() { return in_mode(Mode::endless_headers); }
Reply Reply::endless_interim() { return in_mode(Mode::endless_interim); }
Reply Reply::raw(std::string bytes) { return in_mode(Mode::raw, std::move(bytes)); }
Reply Reply::tunnel(std::uint16_t port) { return in_mode(Mode::tunnel, {}, port); }
Reply Reply::gzip(std::string_view body) {
  return ok(gzip_compressed(body)).with_header("Content-Encoding", "gzip");
}
Reply Reply::gzip_bomb(std::uint64_t bytes) {
  return gzip(std::string(static_cast<std::size_t>(bytes), '\0'));
}
Reply Reply::with_header(std::string name, std::string value) && {
  headers.emplace_back(std::move(name), std::move(value));
  return std::move(*this);
}

std::string gzip_compressed(std::string_view text) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib can't be started");
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace outcomed::testing
