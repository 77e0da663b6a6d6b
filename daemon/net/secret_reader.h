// Reads secrets from files, the environment and systemd credentials.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "queries/base/secret.h"

namespace outcomed {

// A variable's value, or nothing where it is not set. Must be thread-safe.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// Thread-safe. Nothing is cached: a read costs a few microseconds, so a rotated file counts at once
// and no secret stays in memory between requests.
//
// file:/path and cred:NAME must name a regular file (no symbolic link, pipe or device) of 1 byte to
// 64 KiB that belongs to root or to the daemon's own user. Others may not touch it. The group may
// read it where root owns it: mode 0640 root:group, and 0440 for systemd's credentials, whose
// access list shows as group bits. cred:NAME lies below $CREDENTIALS_DIRECTORY. An empty secret is
// an error: it would be sent as "no password". Errors are ErrorKind::invalid.
class FileSecretReader final : public SecretReader {
 public:
  explicit FileSecretReader(Environment environment) : environment_(std::move(environment)) {}
  Result<Secret> read(const SecretRef& ref) override;

 private:
  Result<std::string> text_of(const SecretRef& ref) const;

  Environment environment_;
};

}  // namespace outcomed
