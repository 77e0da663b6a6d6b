// Where a secret lies; never the secret itself. The configuration holds only references; the shell
// reads them at the moment of use, so a rotated file is picked up.
#pragma once

#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

struct SecretRef {
  enum class Kind {
    none,     // Not set.
    file,     // file:/path
    env,      // env:NAME
    cred,     // cred:NAME, a systemd credential below $CREDENTIALS_DIRECTORY
    literal,  // Only for headers that are no secret; loaders refuse it for real secrets.
  };
  Kind kind = Kind::none;
  std::string name;

  [[nodiscard]] bool is_set() const { return kind != Kind::none; }
  // "file:/path": safe to print, since it is a place. Literals print as themselves.
  [[nodiscard]] std::string to_string() const {
    switch (kind) {
      case Kind::none:
        return "";
      case Kind::file:
        return "file:" + name;
      case Kind::env:
        return "env:" + name;
      case Kind::cred:
        return "cred:" + name;
      case Kind::literal:
        return name;
    }
    return "";
  }
  friend bool operator==(const SecretRef&, const SecretRef&) = default;

  static Result<SecretRef> parse(std::string_view text) {
    const auto after = [&](std::string_view prefix) {
      return std::string(text.substr(prefix.size()));
    };
    SecretRef ref;
    if (text.starts_with("file:")) ref = {Kind::file, after("file:")};
    if (text.starts_with("env:")) ref = {Kind::env, after("env:")};
    if (text.starts_with("cred:")) ref = {Kind::cred, after("cred:")};
    if (ref.kind == Kind::none || ref.name.empty()) {
      // The text itself may be the secret: it is not repeated in the message.
      return Error{ErrorKind::invalid,
                   "a secret must be a reference: file:/path, env:NAME or cred:NAME"};
    }
    return ref;
  }
};

// Text that must not be printed: it has no stream operator and no conversion.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const std::string& reveal() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

// Reads references; implemented by the shell.
class SecretReader {
 public:
  virtual ~SecretReader() = default;
  // Surrounding white space and newlines are trimmed. Errors name the reference, never the content.
  virtual Result<Secret> read(const SecretRef& ref) = 0;
};

}  // namespace outcomed
