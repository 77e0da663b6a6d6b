// Between our types and columns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "alerts/alert.h"
#include "alerts/outbox.h"
#include "daemon/storage/sqlite.h"

namespace outcomed {

// A label set or text list as one column: JSON where the texts are valid UTF-8, else the bytes of
// queries/base/codec.h, so that reading gives back exactly what was written. Equal values give
// equal columns. Owns its bytes: keep it alive while a statement runs.
struct Packed {
  std::string bytes;
  bool is_json = true;

  operator sqlite::Value() const {  // NOLINT: implicit
    return is_json ? sqlite::Value(std::string_view(bytes)) : sqlite::Value(sqlite::Blob{bytes});
  }
};

using TextPairs = std::vector<std::pair<std::string, std::string>>;

Packed pack(const Labels& labels);    // {"model": "judge"}
Packed pack(const TextPairs& pairs);  // [["name", "value"], …], in order.

// Reads the columns of the present row from left to right. After the first one that can't be
// understood the rest reads as empty; check status() once, at the end.
class RowReader {
 public:
  explicit RowReader(const sqlite::Statement& row) : row_(row) {}

  std::string text() { return row_.bytes(next_++); }
  std::int64_t integer() { return row_.integer(next_++); }
  double real() { return row_.real(next_++); }
  Timestamp time() { return from_unix_ms(integer()); }
  std::optional<Timestamp> optional_time();
  Labels labels();
  TextPairs pairs();
  AlertKey key();  // Three columns: rule, severity, grouping.
  Phase phase();
  AlertStatus alert_status();
  OutboxState outbox_state();
  Message message();

  [[nodiscard]] Status status() const;

 private:
  void object(std::string what);

  const sqlite::Statement& row_;
  int next_ = 0;
  std::string problem_;
};

std::string_view status_name(AlertStatus status);

}  // namespace outcomed
