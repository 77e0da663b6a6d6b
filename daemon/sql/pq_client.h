// PostgreSQL over libpq, never waiting longer than asked. Why not libpqxx: docs/decisions/0010.
#pragma once

#include <memory>

#include "queries/base/secret.h"
#include "queries/base/sql_client.h"

namespace outcomed {

// `secrets` must outlive the client.
class PqClient final : public SqlClient {
 public:
  explicit PqClient(SecretReader& secrets) : secrets_(secrets) {}
  Result<std::unique_ptr<SqlConnection>> connect(const SqlAccess& access,
                                                 Duration timeout) override;

 private:
  SecretReader& secrets_;
};

}  // namespace outcomed
