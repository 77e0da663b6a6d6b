#include "daemon/config/headers.h"

#include <algorithm>
#include <array>
#include <string>

#include "daemon/config/words.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr std::array<std::string_view, 6> kOwnHeaders = {
    "host", "connection", "contentlength", "transferencoding", "acceptencoding", "contenttype"};
constexpr std::array<std::string_view, 7> kSecretWords = {
    "authorization", "apikey", "token", "secret", "password", "cookie", "signature"};

bool is_token_char(char c) {
  const bool word = is_alphanumeric(c);
  return word || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

Error refused(std::string message) { return {ErrorKind::invalid, std::move(message)}; }

}  // namespace

bool is_reference(std::string_view text) {
  return text.starts_with("file:") || text.starts_with("env:") || text.starts_with("cred:");
}

Status check_header(std::string_view name, const SecretRef& value) {
  if (name.empty() || !std::ranges::all_of(name, is_token_char)) {
    return refused("not the name of a header; use letters, digits and -");
  }
  const std::string word = fold_word(name);
  if (std::ranges::find(kOwnHeaders, word) != kOwnHeaders.end()) {
    return refused("this header is set by outcomed itself; remove it");
  }
  if (value.kind != SecretRef::Kind::literal) return ok();
  const bool secret = std::ranges::any_of(
      kSecretWords, [&](std::string_view part) { return word.find(part) != std::string::npos; });
  if (secret) {
    return refused("a secret must be a reference; write file:/path, env:NAME or cred:NAME");
  }
  if (std::ranges::any_of(value.name, [](unsigned char c) { return c < ' ' || c > '~'; })) {
    return refused("a header's value is one line of ASCII; remove other characters");
  }
  return ok();
}

}  // namespace outcomed
