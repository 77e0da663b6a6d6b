// A recording in a folder of metrics pages, SEQ-UNIXSECONDS.prom or .prom.gz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "queries/counters/counter_reader.h"
#include "queries/exposition/page.h"
#include "queries/source.h"

namespace outcomed {

// The folder is listed once, at the first use; a page is read when its time is fetched, and not
// again while ranges go forward. A page that can't be read is a gap and a problem.
class PagesRecording final : public Source {
 public:
  PagesRecording(std::string path, std::vector<SignalPlan> plans);

  Result<Fetch> fetch(TimeRange range) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) override;
  Result<std::optional<TimeRange>> span() override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  struct Page {
    std::int64_t at_ms = 0;
    std::uint64_t sequence = 0;
    std::string file;
  };

  Status open();
  Status list();
  void sort_pages();
  Status feed(const Page& page);

  std::string path_;
  CounterReader counters_;
  PageTarget target_;
  std::optional<Status> opened_;
  std::vector<Page> pages_;   // By time.
  std::size_t next_ = 0;      // The first page not read yet.
  std::size_t readable_ = 0;  // Pages that could be read.
  bool saw_counter_ = false;  // One that the signals read, on some page.
  std::vector<Problem> problems_;
  std::vector<std::pair<SeriesId, double>> values_;  // Of one page, until all of it was read.
};

}  // namespace outcomed
