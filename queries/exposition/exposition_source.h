// Reads a gateway's metrics page itself, without a Prometheus in between.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/base/http_client.h"
#include "queries/counters/counter_reader.h"
#include "queries/exposition/page.h"
#include "queries/exposition/scraped_page.h"
#include "queries/source.h"

namespace outcomed {

struct ExpositionSettings {
  std::string url;
  HttpAccess access;
  Duration scrape_interval = 15s;
  Duration timeout = 10s;
  std::int64_t max_bytes = 64 * 1024 * 1024;

  void visit(ParamVisitor& visitor);
};

// poll() scrapes, beside the other calls: samples carry the time at which the scrape began,
// whatever the page says, and wait until fetch() asks for them. A failed scrape is a gap; the
// counters of the next one tell what happened meanwhile. fetch() fails, with the error of the last
// scrape, only where nothing of the range was scraped and the page still can't be read.
class ExpositionSource final : public Source {
 public:
  ExpositionSource(ExpositionSettings settings, std::vector<SignalPlan> plans, HttpClient& http);

  Result<Fetch> fetch(TimeRange range) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) override;
  [[nodiscard]] bool has_past() const override { return false; }
  [[nodiscard]] std::optional<Duration> poll_interval() const override;
  Status poll(Timestamp now) override;
  void take_in() override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  struct Scrape {
    std::int64_t at_ms = 0;
    std::vector<std::pair<SeriesId, double>> values;
  };

  Status scrape(const WantedNames& names, ScrapedPage& into) const;
  void choose_names();
  void take_in_page(const ScrapedPage& page);
  [[nodiscard]] HttpRequest request() const;
  [[nodiscard]] Status check_answer(const HttpResponse& response, bool any_body,
                                    TextParser& parser) const;
  [[nodiscard]] Error error_of_answer(const HttpResponse& response) const;
  void bound_buffer();

  ExpositionSettings settings_;
  HttpClient& http_;
  CounterReader counters_;
  PageTarget target_;
  std::deque<Scrape> scrapes_;  // Of the range fetched last and since: a range may be asked again.
  std::size_t buffered_ = 0;    // Values in scrapes_.
  std::size_t dropped_ = 0;     // Scrapes given up because nobody fetched them.
  std::optional<Error> failing_;  // Error of the last poll that was taken in, where it failed.

  // What poll() leaves for the others.
  struct Arrived {
    std::deque<ScrapedPage> pages;
    std::size_t bytes = 0;
    std::size_t dropped = 0;
    std::int64_t last_at = 0;  // Of the last good scrape.
    std::optional<Error> failing;
  };
  std::mutex mutex_;  // Over what follows.
  Arrived arrived_;
  std::shared_ptr<const WantedNames> names_;  // Of the counters that are read.
};

// "host:port" of a URL, the port always told, as in Prometheus' label `instance`.
std::string instance_of(std::string_view url);

}  // namespace outcomed
