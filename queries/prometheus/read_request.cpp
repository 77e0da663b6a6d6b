#include "queries/prometheus/read_request.h"

#include <snappy.h>

#include "queries/prometheus/protobuf.h"

namespace outcomed {
namespace {

std::uint64_t type_number(Matcher::Op op) {
  switch (op) {
    case Matcher::Op::equal:
      return 0;
    case Matcher::Op::not_equal:
      return 1;
    case Matcher::Op::match:
      return 2;
    case Matcher::Op::not_match:
      return 3;
  }
  return 0;
}

}  // namespace

std::string remote_read_request(const std::vector<ReadQuery>& queries) {
  ProtoWriter request;
  for (const ReadQuery& query : queries) {
    ProtoWriter one;
    one.varint(1, static_cast<std::uint64_t>(query.span.begin_ms));
    one.varint(2, static_cast<std::uint64_t>(query.span.end_ms));
    for (const Matcher& matcher : query.matchers) {
      ProtoWriter label;
      label.varint(1, type_number(matcher.op()));
      label.bytes(2, matcher.name()).bytes(3, matcher.value());
      one.bytes(3, label.message());
    }
    request.bytes(1, one.message());
  }
  request.varint(2, 1);  // accepted_response_types: STREAMED_XOR_CHUNKS; old servers don't look.
  std::string body;
  snappy::Compress(request.message().data(), request.message().size(), &body);
  return body;
}

}  // namespace outcomed
