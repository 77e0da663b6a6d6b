#include "daemon/rescore/score_file.h"

#include <fmt/core.h>

#include "queries/recording/csv_text.h"
#include "queries/recording/file_pieces.h"

namespace outcomed {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

void take_texts(const std::vector<CsvField>& record, std::vector<std::string_view>& texts) {
  texts.clear();
  for (const CsvField& field : record) texts.push_back(field.text);
}

}  // namespace

Result<ScoreRows> read_score_rows(std::string_view text, const std::string& file,
                                  const ScoreColumns& columns) {
  CsvReader reader(text);
  std::vector<CsvField> record;
  std::vector<std::string_view> texts;
  const auto fault = [&](const Error& error) {
    return Error{ErrorKind::invalid,
                 fmt::format("{}:{}:{}: {}", file, reader.line(), reader.column(), error.message)};
  };
  auto more = reader.next(record);
  if (!more) return fault(more.error());
  if (!*more) return Error{ErrorKind::invalid, file + ": empty; a header line is needed"};
  ScoreRowReader rows(file, columns, "line");
  take_texts(record, texts);
  if (Status status = rows.header(texts); !status) return std::move(status).error();
  while (true) {
    more = reader.next(record);
    if (!more) return fault(more.error());
    if (!*more) break;
    take_texts(record, texts);
    rows.row(texts, reader.line());
  }
  return rows.finish();
}

Result<std::string> read_score_file(const std::string& path) {
  std::string text;
  Status status = read_pieces(path, [&](std::string_view piece) -> Status {
    if (text.size() + piece.size() > kMostBytes) {
      return Error{ErrorKind::too_large, "more than 1 GiB"};
    }
    text += piece;
    return ok();
  });
  if (status) return text;
  Error error = std::move(status).error();
  if (error.kind == ErrorKind::invalid) error.kind = ErrorKind::unavailable;
  return std::move(error).while_doing(path);
}

}  // namespace outcomed
