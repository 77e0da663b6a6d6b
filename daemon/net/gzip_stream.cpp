#include "daemon/net/gzip_stream.h"

#include <zlib.h>

#include <array>
#include <new>

namespace outcomed {

struct GzipStream::State {
  z_stream stream{};
  bool inside_member = false;
  std::array<char, 32 * 1024> out{};
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&state_->stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
}

GzipStream::~GzipStream() { inflateEnd(&state_->stream); }

bool GzipStream::is_whole() const { return !state_->inside_member; }

Status GzipStream::feed(std::string_view piece, const Sink& sink) {
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  bool out_was_full = false;
  while (stream.avail_in > 0 || out_was_full) {
    state_->inside_member = true;
    stream.next_out = reinterpret_cast<Bytef*>(state_->out.data());
    stream.avail_out = static_cast<uInt>(state_->out.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    // Z_BUF_ERROR only says that nothing was left to do, after an output that filled exactly.
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return Error{ErrorKind::corrupt, "the gzip body is damaged"};
    }
    const std::size_t produced = state_->out.size() - stream.avail_out;
    if (produced > 0) {
      if (auto taken = sink({state_->out.data(), produced}); !taken) return taken;
    }
    out_was_full = stream.avail_out == 0;
    if (code == Z_STREAM_END) {
      state_->inside_member = false;
      out_was_full = false;
      inflateReset(&stream);
    }
  }
  return ok();
}

}  // namespace outcomed
