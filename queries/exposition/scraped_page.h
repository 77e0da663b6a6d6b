// One scrape of a metrics page: of its samples those that the signals read, as they were written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "queries/exposition/text_format.h"

namespace outcomed {

class ScrapedPage {
 public:
  explicit ScrapedPage(std::int64_t at_ms) : at_ms_(at_ms) {}

  // Copies the text that the sample's views point to.
  void add(const TextSample& sample);
  [[nodiscard]] std::int64_t at_ms() const { return at_ms_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // Its views live as long as the page and until the next add().
  [[nodiscard]] TextSample sample(std::size_t index) const;
  [[nodiscard]] std::size_t bytes() const { return text_.size() + rows_.size() * sizeof(Row); }

 private:
  struct Piece {
    std::uint32_t at = 0;
    std::uint32_t length = 0;
  };
  struct Row {
    Piece name;
    Piece series;
    Piece labels;
    double value = 0;
    bool ordered = true;
  };
  Piece keep(std::string_view text);
  [[nodiscard]] std::string_view view(Piece piece) const;

  std::int64_t at_ms_;
  std::string text_;
  std::vector<Row> rows_;
};

}  // namespace outcomed
