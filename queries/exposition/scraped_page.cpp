#include "queries/exposition/scraped_page.h"

namespace outcomed {

ScrapedPage::Piece ScrapedPage::keep(std::string_view text) {
  const Piece piece{static_cast<std::uint32_t>(text_.size()),
                    static_cast<std::uint32_t>(text.size())};
  text_ += text;
  return piece;
}

std::string_view ScrapedPage::view(Piece piece) const {
  return std::string_view(text_).substr(piece.at, piece.length);
}

void ScrapedPage::add(const TextSample& sample) {
  rows_.push_back({keep(sample.name), keep(sample.series), keep(sample.labels_text), sample.value,
                   sample.ordered});
}

TextSample ScrapedPage::sample(std::size_t index) const {
  const Row& row = rows_[index];
  return {view(row.name), view(row.series), view(row.labels), row.ordered, row.value, std::nullopt};
}

}  // namespace outcomed
