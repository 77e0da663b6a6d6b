#include "alerts/digest.h"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <climits>

namespace outcomed {
namespace {

using DigestBytes = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string hex(const DigestBytes& bytes, unsigned size) {
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes.at(i));
  return text;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Result<std::string> sha256_hex(std::string_view text) {
  DigestBytes out{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), out.data(), &size, EVP_sha256(), nullptr) != 1) {
    return Error{ErrorKind::unsupported, "the crypto library has no SHA-256"};
  }
  return hex(out, size);
}

Result<std::string> hmac_sha256_hex(std::string_view key, std::string_view text) {
  DigestBytes out{};
  unsigned size = 0;
  if (key.size() > INT_MAX || HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                   bytes_of(text), text.size(), out.data(), &size) == nullptr) {
    return Error{ErrorKind::unsupported, "the crypto library has no HMAC-SHA-256"};
  }
  return hex(out, size);
}

}  // namespace outcomed
