#include "queries/base/sql_client.h"

#include <algorithm>
#include <array>

namespace outcomed {
namespace {

constexpr std::array<std::string_view, 6> kModes = {"disable", "allow",     "prefer",
                                                    "require", "verify-ca", "verify-full"};

}  // namespace

void SqlAccess::visit(ParamVisitor& visitor) {
  visitor.text("host", host, "Name or address of the server, or the folder of its Unix socket.");
  visitor.count("port", port, {1, 65535}, "Port of the server.");
  visitor.text("dbname", dbname, "Name of the database.");
  visitor.text("user", user, "Role to log in as; one that can only read.");
  visitor.secret("password", password, "Password of the role.");
  visitor.text("sslmode", sslmode,
               "disable, allow, prefer, require, verify-ca or verify-full, as libpq knows them.");
  visitor.path("ca_file", ca_file, "Certificates of the authorities that are believed (PEM).");
  visitor.path("cert_file", cert_file, "Own certificate (PEM).");
  visitor.path("key_file", key_file, "Key of the own certificate (PEM).");

  if (host.empty()) visitor.problem("host", "is missing", "name the server: 127.0.0.1");
  if (dbname.empty()) visitor.problem("dbname", "is missing", "name the database: litellm");
  if (user.empty()) visitor.problem("user", "is missing", "name a role that can only read");
  if (std::ranges::find(kModes, sslmode) == kModes.end()) {
    visitor.problem("sslmode", "unknown mode: " + sslmode.substr(0, 40),
                    "one of disable, allow, prefer, require, verify-ca, verify-full");
  }
  if (sslmode.starts_with("verify") && ca_file.empty()) {
    visitor.problem("ca_file", "is missing", "nothing can be verified without authorities");
  }
  if (cert_file.empty() != key_file.empty()) {
    visitor.problem(cert_file.empty() ? "cert_file" : "key_file", "is missing",
                    "certificate and key belong together");
  }
}

}  // namespace outcomed
