#include "daemon/sql/pq_client.h"

#include "daemon/sql/pq_connection.h"

namespace outcomed {

Result<std::unique_ptr<SqlConnection>> PqClient::connect(const SqlAccess& access,
                                                         Duration timeout) {
  Secret password;
  if (access.password.is_set()) {
    auto read = secrets_.read(access.password);
    if (!read) return std::move(read).error().while_doing("password of " + access.user);
    password = *std::move(read);
  }
  return PqConnection::open(access, password, timeout);
}

}  // namespace outcomed
