#include "daemon/storage/sqlite.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cstring>
#include <limits>
#include <utility>

namespace outcomed::sqlite {
namespace {

constexpr int kCheckpointPages = 1000;

bool is_breaking(int code) {
  switch (code & 0xff) {
    case SQLITE_IOERR:
      return code != SQLITE_IOERR_NOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return true;
    default:
      return false;
  }
}

ErrorKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorKind::corrupt;
    case SQLITE_FULL:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
      return ErrorKind::unavailable;
    case SQLITE_IOERR:
      return code == SQLITE_IOERR_NOMEM ? ErrorKind::unavailable : ErrorKind::rejected;
    case SQLITE_TOOBIG:
      return ErrorKind::too_large;
    default:
      return ErrorKind::invalid;
  }
}

std::string_view remedy_for(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "; free some space, nothing of this step was stored";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process has it open: a running daemon (its commands answer without "
             "--store), or a second one, which needs its own file";
    case SQLITE_IOERR:
      return code == SQLITE_IOERR_NOMEM ? "" : "; check the disk and start again";
    case SQLITE_CANTOPEN:
      return "; check that the folder exists, is ours, and that the file is no link";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "; check owner and mode of the file and its folder, and the file system's mount "
             "options";
    default:
      return "";
  }
}

// https://www.sqlite.org/uri.html
std::string frozen_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_special = c == '%' || c == '?' || c == '#';
    uri += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return uri + "?immutable=1";
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Access access,
                                                 Duration busy_timeout) {
  const bool is_frozen = access == Access::frozen;
  const int flags = (access == Access::read_write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                    (is_frozen ? SQLITE_OPEN_URI : 0) | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_EXRESCODE;
  const std::string name = is_frozen ? frozen_uri(path) : path;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  if (handle == nullptr) return Error{ErrorKind::unavailable, path + ": out of memory"};
  std::unique_ptr<Database> database(new Database(path, handle));
  if (code != SQLITE_OK) return database->error(code, "open");
  sqlite3_busy_timeout(handle, static_cast<int>(busy_timeout.count()));
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_wal_hook(
      handle,
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Database*>(self)->log_pages_ = pages;
        return SQLITE_OK;
      },
      database.get());
  return database;
}

Database::~Database() {
  if (broken_) sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_close_v2(handle_);
}

Status Database::exec(const char* sql, std::string_view task) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code, task);
  return ok();
}

Statement Database::prepare(std::string_view sql, std::string_view task) {
  Statement statement(*this, task);
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()),
                                      &statement.handle_, nullptr);
  if (code != SQLITE_OK) statement.unprepared_ = error(code, task);
  return statement;
}

Result<std::int64_t> Database::integer(std::string_view sql, std::string_view task) {
  std::optional<std::int64_t> value;
  Statement statement = prepare(sql, task);
  const Status read = statement.each({}, [&] {
    if (!value) value = statement.integer(0);
    return ok();
  });
  if (!read) return read.error();
  if (!value) return Error{ErrorKind::invalid, fmt::format("{}: {}: no answer", path_, task)};
  return *value;
}

std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Status Database::checkpoint_if_due() {
  if (log_pages_ < kCheckpointPages || broken_) return ok();
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK) log_pages_ = 0;
  if (code != SQLITE_OK) return error(code, "checkpoint");
  return ok();
}

Error Database::error(int code, std::string_view task) {
  std::string text =
      fmt::format("{}: {}: {} (SQLite {})", path_, task, sqlite3_errmsg(handle_), code);
  const int cause = sqlite3_system_errno(handle_);
  const int primary = code & 0xff;
  if (cause != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    text += fmt::format(": {}", std::strerror(cause));
  }
  Error result{kind_of(code), text + std::string(remedy_for(code))};
  if (is_breaking(code) && !broken_) broken_ = result;
  return result;
}

Error Database::corrupt(std::string_view task, std::string_view what) {
  Error result{ErrorKind::corrupt, fmt::format("{}: {}: {}", path_, task, what)};
  if (!broken_) broken_ = result;
  return result;
}

Error Database::refusal(std::string_view what) const {
  return {ErrorKind::invalid, fmt::format("{}: {}", path_, what)};
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)),
      task_(std::move(other.task_)),
      unprepared_(std::move(other.unprepared_)) {}

Statement::~Statement() { sqlite3_finalize(handle_); }

Status Statement::bind(std::initializer_list<Value> values) {
  if (unprepared_) return *unprepared_;
  int place = 0;
  for (const Value& value : values) {
    ++place;
    const int code = std::visit(
        [&](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<Held, std::monostate>) {
            return sqlite3_bind_null(handle_, place);
          } else if constexpr (std::is_same_v<Held, std::int64_t>) {
            return sqlite3_bind_int64(handle_, place, held);
          } else if constexpr (std::is_same_v<Held, double>) {
            return sqlite3_bind_double(handle_, place, held);
          } else if constexpr (std::is_same_v<Held, std::string_view>) {
            return sqlite3_bind_text64(handle_, place, held.empty() ? "" : held.data(), held.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
          } else {
            return sqlite3_bind_blob64(handle_, place, held.bytes.empty() ? "" : held.bytes.data(),
                                       held.bytes.size(), SQLITE_STATIC);
          }
        },
        value.value_);
    if (code != SQLITE_OK) return database_->error(code, task_);
  }
  return ok();
}

Status Statement::run(std::initializer_list<Value> values) {
  return each(values, [] { return ok(); });
}

Status Statement::each(std::initializer_list<Value> values, const std::function<Status()>& take) {
  if (Status bound = bind(values); !bound) return bound;
  Status result = ok();
  while (true) {
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) {
      result = take();
      if (result) continue;
    } else if (code != SQLITE_DONE) {
      result = database_->error(code, task_);
    }
    break;
  }
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  return result;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const {
  if (is_null(column)) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(handle_, column);
}

std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(handle_, column);
  const int size = sqlite3_column_bytes(handle_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

bool Statement::is_blob(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_BLOB;
}

Error Statement::corrupt(std::string_view what) const {
  Error error = database_->refusal(fmt::format("{}: {}", task_, what));
  error.kind = ErrorKind::corrupt;
  return error;
}

Transaction::~Transaction() {
  // A failed rollback is noted by exec where it breaks the connection.
  if (database_.in_transaction()) (void)database_.exec("ROLLBACK", "roll back");
}

Status Transaction::begin(std::string_view task) { return database_.exec("BEGIN IMMEDIATE", task); }

Status Transaction::commit(std::string_view task) { return database_.exec("COMMIT", task); }

}  // namespace outcomed::sqlite
