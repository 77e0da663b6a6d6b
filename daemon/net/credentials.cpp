#include "daemon/net/credentials.h"

#include <algorithm>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

bool is_token_char(char c) {
  return is_alphanumeric(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool lies_in_file(const SecretRef& ref) {
  return ref.kind == SecretRef::Kind::file || ref.kind == SecretRef::Kind::cred;
}

bool same_lines(const std::vector<Secret>& a, const std::vector<Secret>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Secret& x, const Secret& y) { return x.reveal() == y.reveal(); });
}

Status add_basic(const HttpAccess& access, SecretReader& secrets, Credentials& credentials) {
  if (access.basic_user.empty() && !access.basic_password.is_set()) return ok();
  if (access.basic_user.find_first_of(std::string_view(":\0", 2)) != std::string::npos) {
    return Error{ErrorKind::invalid, "the user name of basic_auth must not hold a colon"};
  }
  credentials.basic = true;
  credentials.user = access.basic_user;
  if (!access.basic_password.is_set()) return ok();
  auto password = secrets.read(access.basic_password);
  if (!password) return std::move(password).error();
  if (password->reveal().find('\0') != std::string::npos) {
    return Error{ErrorKind::invalid,
                 "secret " + access.basic_password.to_string() + ": holds a NUL byte"};
  }
  credentials.password = *std::move(password);
  credentials.secrets.push_back(credentials.password);
  credentials.secrets.emplace_back(access.basic_user + ":" + credentials.password.reveal());
  credentials.rotatable |= lies_in_file(access.basic_password);
  return ok();
}

bool tells_who_asks(const std::string& header) {
  return same_header_name(header, "authorization") ||
         same_header_name(header, "proxy-authorization");
}

// The value, and what stands behind the scheme: servers name the one or the other.
void note_secret(const std::string& value, Credentials& credentials) {
  credentials.secrets.emplace_back(value);
  if (const auto space = value.find(' '); space != std::string::npos) {
    credentials.secrets.emplace_back(value.substr(space + 1));
  }
}

Status add_header(const std::string& name, std::string_view prefix, const SecretRef& ref,
                  SecretReader& secrets, Credentials& credentials) {
  auto value = secrets.read(ref);
  if (!value) return std::move(value).error();
  auto line = header_line(name, std::string(prefix) + value->reveal());
  if (!line) {
    // A literal may be a secret by mistake, so only real references are named.
    const bool nameable = ref.kind != SecretRef::Kind::literal;
    return std::move(line).error().while_doing(nameable ? "secret " + ref.to_string() : "headers");
  }
  const bool for_proxy = same_header_name(name, "proxy-authorization");
  // A literal is no secret, except where somebody wrote one down all the same.
  if (ref.kind != SecretRef::Kind::literal || tells_who_asks(name)) {
    note_secret(value->reveal(), credentials);
  }
  (for_proxy ? credentials.proxy_lines : credentials.lines).emplace_back(*std::move(line));
  credentials.rotatable |= lies_in_file(ref);
  return ok();
}

}  // namespace

bool Credentials::equals(const Credentials& other) const {
  return basic == other.basic && user == other.user &&
         password.reveal() == other.password.reveal() && same_lines(lines, other.lines) &&
         same_lines(proxy_lines, other.proxy_lines);
}

bool is_http_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool same_header_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

Result<std::string> header_line(std::string_view name, std::string_view value) {
  if (!is_http_token(name)) {
    return Error{ErrorKind::invalid, "a header's name must be letters, digits and dashes"};
  }
  const std::string shown = "header " + std::string(name);
  if (same_header_name(name, "content-length") || same_header_name(name, "transfer-encoding")) {
    return Error{ErrorKind::invalid, shown + ": is set by the client itself; leave it out"};
  }
  if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
    return Error{ErrorKind::invalid, shown + ": its value holds a line break or NUL byte"};
  }
  // "Name:" would remove the header; this is libcurl's way to send an empty one.
  if (value.find_first_not_of(" \t") == std::string_view::npos) return std::string(name) + ";";
  return std::string(name) + ": " + std::string(value);
}

Result<Credentials> read_credentials(const HttpAccess& access, SecretReader& secrets) {
  Credentials credentials;
  if (auto added = add_basic(access, secrets, credentials); !added) {
    return std::move(added).error();
  }
  bool authorized = credentials.basic;
  if (access.bearer_token.is_set()) {
    auto added = add_header("Authorization", "Bearer ", access.bearer_token, secrets, credentials);
    if (!added) return std::move(added).error();
    if (authorized) return Error{ErrorKind::invalid, "basic_auth and bearer_token are both set"};
    authorized = true;
  }
  for (const auto& [name, ref] : access.headers) {
    if (authorized && same_header_name(name, "authorization")) {
      return Error{ErrorKind::invalid,
                   "headers: Authorization is set already by basic_auth or bearer_token"};
    }
    if (auto added = add_header(name, "", ref, secrets, credentials); !added) {
      return std::move(added).error();
    }
  }
  return credentials;
}

}  // namespace outcomed
