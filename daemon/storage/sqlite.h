// SQLite in C++ terms. Errors come back as text with the file, the task, SQLite's extended code and
// the remedy. Nothing here is thread-safe: the owner of a Database holds a mutex.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "queries/base/result.h"
#include "queries/base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace outcomed::sqlite {

class Statement;

class Database {
 public:
  // `frozen`: for reading a file that nobody changes, where nothing can be made beside it.
  enum class Access { read_write, read_only, frozen };

  // `path` is absolute and holds no symlink. Waits at most `busy_timeout` for a foreign lock.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Access access,
                                                Duration busy_timeout);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs statements separated by ';'. `task` is what the error message says was going on.
  Status exec(const char* sql, std::string_view task);
  // A statement that could not be prepared reports that from each of its calls.
  Statement prepare(std::string_view sql, std::string_view task);
  // The first column of the first row; an error where there is none.
  Result<std::int64_t> integer(std::string_view sql, std::string_view task);

  // Rows touched by the last statement.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] bool in_transaction() const;

  // Moves the write-ahead log into the file once it has grown. SQLite's own automatic checkpoint
  // drops its errors, and an fsync that failed once must never be tried again as if it had not.
  Status checkpoint_if_due();

  // The first error after which this connection must not be trusted (I/O error, corruption); from
  // then on the log stays where it is. A full disk is not one of these.
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }

  // Describes the failure `code` of the last call, and remembers it where it is a breaking one.
  Error error(int code, std::string_view task);
  // What SQLite's own check found: breaking, too.
  Error corrupt(std::string_view task, std::string_view what);
  // A sound file that isn't for us.
  [[nodiscard]] Error refusal(std::string_view what) const;

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  sqlite3* handle_;
  int log_pages_ = 0;
  std::optional<Error> broken_;
};

struct Blob {
  std::string_view bytes;
};

// What a statement is given for one '?'. Texts are only looked at.
class Value {
 public:
  Value(std::string_view text) : value_(text) {}                      // NOLINT: implicit
  Value(const std::string& text) : value_(std::string_view(text)) {}  // NOLINT: implicit
  Value(Blob blob) : value_(blob) {}                                  // NOLINT: implicit
  Value(double real) : value_(real) {}                                // NOLINT: implicit
  Value(Timestamp at) : value_(unix_ms(at)) {}                        // NOLINT: implicit
  Value(const std::optional<Timestamp>& at) {                         // NOLINT: implicit
    if (at) value_ = unix_ms(*at);
  }
  template <std::integral Integer>
  Value(Integer integer) : value_(static_cast<std::int64_t>(integer)) {}  // NOLINT: implicit

 private:
  friend class Statement;
  std::variant<std::monostate, std::int64_t, double, std::string_view, Blob> value_;
};

class Statement {
 public:
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  // Binds `values` to ?1, ?2, … and runs to the end.
  Status run(std::initializer_list<Value> values = {});
  // The same, calling `take` for each row; an error from it ends the loop.
  Status each(std::initializer_list<Value> values, const std::function<Status()>& take);

  // Columns of the present row, from 0. Texts may hold any bytes. NULL reads as 0, NaN or "".
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string bytes(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_blob(int column) const;
  // For a row that SQLite accepts and we don't (a phase that doesn't exist). The rest of the file
  // may be well, so this breaks nothing.
  [[nodiscard]] Error corrupt(std::string_view what) const;

 private:
  friend class Database;
  Statement(Database& database, std::string_view task) : database_(&database), task_(task) {}
  Status bind(std::initializer_list<Value> values);

  Database* database_;
  sqlite3_stmt* handle_ = nullptr;
  std::string task_;
  std::optional<Error> unprepared_;
};

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Status begin(std::string_view task);
  Status commit(std::string_view task);

 private:
  Database& database_;
};

}  // namespace outcomed::sqlite
