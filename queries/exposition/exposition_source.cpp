#include "queries/exposition/exposition_source.h"

#include <fmt/core.h>

#include <algorithm>

namespace outcomed {
namespace {

// About 64 MiB. Only a daemon whose ticks have stopped gets here.
constexpr std::size_t kMaxBuffered = 4'000'000;
// Of pages that nobody took in yet.
constexpr std::size_t kMaxArrivedBytes = 256UL * 1024 * 1024;
constexpr int kMaxRedirects = 1;  // LiteLLM answers /metrics with 307 to /metrics/.

constexpr std::string_view kKeyHint =
    "LiteLLM since 1.85 asks for a key: set bearer_token to one, or in the gateway "
    "litellm_settings.require_auth_for_metrics_endpoint to false";

bool starts_like_html(std::string_view body) {
  const auto first = body.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && body[first] == '<';
}

Error html_error() {
  return {ErrorKind::corrupt,
          "the answer is a web page, not metrics: a login page, or a path that doesn't exist? "
          "Check url"};
}

}  // namespace

void ExpositionSettings::visit(ParamVisitor& visitor) {
  visitor.url("url", url, "Address of the metrics page, such as http://127.0.0.1:4000/metrics/.");
  visitor.duration("scrape_interval", scrape_interval,
                   "Time from one look at the page to the next.");
  visitor.duration("timeout", timeout, "A scrape that takes longer is a gap.");
  visitor.size("max_bytes", max_bytes, "A page that is larger is refused.");
  access.visit(visitor);
  if (url.empty()) {
    visitor.problem("url", "is missing", "write the address of the gateway's /metrics page");
  }
  if (scrape_interval < 1s) {
    visitor.problem("scrape_interval", "is shorter than a second", "15s is usual");
  }
  if (timeout <= Duration::zero() || timeout > scrape_interval) {
    visitor.problem("timeout", "must be above 0 and at most the scrape_interval",
                    fmt::format("the scrape_interval is {}", format_duration(scrape_interval)));
  }
  if (max_bytes <= 0) visitor.problem("max_bytes", "must be above 0", "64MiB is the default");
}

std::string instance_of(std::string_view url) {
  std::string_view port = url.starts_with("https://") ? "443" : "80";
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  const auto colon = url.rfind(':');
  const bool in_brackets = colon != std::string_view::npos && url.find(']', colon) != url.npos;
  if (colon != std::string_view::npos && !in_brackets) return std::string(url);
  return fmt::format("{}:{}", url, port);
}

ExpositionSource::ExpositionSource(ExpositionSettings settings, std::vector<SignalPlan> plans,
                                   HttpClient& http)
    : settings_(std::move(settings)),
      http_(http),
      counters_(std::move(plans)),
      target_{"exposition", instance_of(settings_.url)} {
  choose_names();
}

// Fewer are read once it is known how the gateway counts.
void ExpositionSource::choose_names() {
  auto names = std::make_shared<const WantedNames>(counters_.selectors());
  const std::lock_guard lock(mutex_);
  names_ = std::move(names);
}

void ExpositionSource::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  counters_.seed_cells(signal, cells);
}

const std::vector<Labels>& ExpositionSource::cells(std::size_t signal) const {
  return counters_.cells(signal);
}

std::optional<Duration> ExpositionSource::poll_interval() const {
  return settings_.scrape_interval;
}

void ExpositionSource::save(Writer& writer) const { counters_.save(writer, true); }

bool ExpositionSource::load(Reader& reader) {
  const bool loaded = counters_.load(reader);
  choose_names();
  return loaded;
}

HttpRequest ExpositionSource::request() const {
  HttpRequest request;
  request.url = settings_.url;
  request.headers = {{"Accept", "text/plain;version=0.0.4"}};
  request.access = settings_.access;
  request.timeout = settings_.timeout;
  request.max_bytes = settings_.max_bytes;
  request.same_host_redirects = kMaxRedirects;
  return request;
}

Error ExpositionSource::error_of_answer(const HttpResponse& response) const {
  if (response.status >= 300 && response.status < 400) {
    return {ErrorKind::rejected,
            fmt::format("HTTP {}: redirected to {}; redirects are followed once, on the same host "
                        "only: set url to where the page is",
                        response.status, redact_url(response.header("location")))};
  }
  // The body is left out here: some gateways repeat parts of the key in it.
  if (response.status == 401 || response.status == 403) {
    return {ErrorKind::unauthorized, fmt::format("HTTP {}: {}", response.status, kKeyHint)};
  }
  return error_of_status(response);
}

// Whether a whole page came.
Status ExpositionSource::check_answer(const HttpResponse& response, bool any_body,
                                      TextParser& parser) const {
  if (response.status < 200 || response.status > 299) return error_of_answer(response);
  const std::string_view type = response.header("content-type");
  if (type.starts_with("text/html")) return html_error();
  if (type.starts_with("application/json")) {
    return Error{ErrorKind::corrupt, "the answer is JSON, not a metrics page; check url"};
  }
  if (!any_body) return Error{ErrorKind::corrupt, "the page is empty"};
  if (type.starts_with("application/openmetrics-text") && !parser.saw_eof_mark()) {
    return Error{ErrorKind::corrupt, "the page doesn't end in \"# EOF\": it was cut off"};
  }
  return parser.finish();
}

Status ExpositionSource::poll(Timestamp now) {
  ScrapedPage page(unix_ms(now));
  Status status = ok();
  std::shared_ptr<const WantedNames> names;
  {
    const std::lock_guard lock(mutex_);
    names = names_;
    if (page.at_ms() <= arrived_.last_at) {
      status =
          Error{ErrorKind::invalid,
                fmt::format("the clock went back to {}; scraping goes on after {}",
                            format_rfc3339(now), format_rfc3339(from_unix_ms(arrived_.last_at)))};
    }
  }
  if (status) status = scrape(*names, page);
  const std::lock_guard lock(mutex_);
  if (!status) {
    arrived_.failing = status.error();
    return status;
  }
  arrived_.failing.reset();
  arrived_.last_at = page.at_ms();
  arrived_.bytes += page.bytes();
  arrived_.pages.push_back(std::move(page));
  while (arrived_.bytes > kMaxArrivedBytes && arrived_.pages.size() > 2) {
    arrived_.bytes -= arrived_.pages.front().bytes();
    arrived_.pages.pop_front();
    ++arrived_.dropped;
  }
  return ok();
}

Status ExpositionSource::scrape(const WantedNames& names, ScrapedPage& into) const {
  TextParser parser(
      TextFormat::prometheus, [&](std::string_view name) { return names.contains(name); },
      [&](const TextSample& sample) {
        into.add(sample);
        return ok();
      });
  bool any = false;
  HttpRequest ask = request();
  ask.on_body = [&](std::string_view piece) -> Status {
    if (!any && starts_like_html(piece)) return html_error();
    any |= !piece.empty();
    return parser.feed(piece);
  };
  auto response = http_.send(ask);
  if (!response) return std::move(response).error();  // Says already what was asked of whom.
  Status status = check_answer(*response, any, parser);
  if (!status) {
    Error error = std::move(status).error();
    error.message = response->scrubber.scrub(error.message);
    return std::move(error).while_doing("GET " + redact_url(settings_.url));
  }
  return ok();
}

void ExpositionSource::take_in() {
  std::deque<ScrapedPage> pages;
  {
    const std::lock_guard lock(mutex_);
    pages.swap(arrived_.pages);
    arrived_.bytes = 0;
    dropped_ += std::exchange(arrived_.dropped, 0);
    failing_ = arrived_.failing;
  }
  for (const ScrapedPage& page : pages) take_in_page(page);
}

void ExpositionSource::take_in_page(const ScrapedPage& page) {
  Scrape scrape{page.at_ms(), {}};
  std::string scratch;
  for (std::size_t i = 0; i < page.size(); ++i) {
    const TextSample sample = page.sample(i);
    const SeriesId id =
        counters_.open(sample.key(scratch), [&] { return target_.labels_of(sample); });
    scrape.values.emplace_back(id, sample.value);
  }
  scrape.values.emplace_back(counters_.open("up", [&] { return target_.up(); }), 1.0);
  buffered_ += scrape.values.size();
  scrapes_.push_back(std::move(scrape));
  bound_buffer();
}

// The counters are cumulative: what falls away with the oldest scrapes is only when things
// happened.
void ExpositionSource::bound_buffer() {
  while (buffered_ > kMaxBuffered && scrapes_.size() > 2) {
    buffered_ -= scrapes_.front().values.size();
    scrapes_.pop_front();
    ++dropped_;
  }
}

Result<Fetch> ExpositionSource::fetch(TimeRange range) {
  take_in();
  const std::int64_t begin = unix_ms(range.begin);
  const std::int64_t end = unix_ms(range.end);
  const bool scraped = std::ranges::any_of(
      scrapes_, [&](const Scrape& scrape) { return begin < scrape.at_ms && scrape.at_ms <= end; });
  const bool later = !scrapes_.empty() && scrapes_.back().at_ms > end;
  if (!scraped && !later && failing_) return *failing_;

  // Of what lies before the range only the newest is of use: it tells where the counters stood.
  while (scrapes_.size() > 1 && scrapes_[1].at_ms <= begin) {
    buffered_ -= scrapes_.front().values.size();
    scrapes_.pop_front();
  }
  counters_.begin(range);
  for (const Scrape& scrape : scrapes_) {
    if (scrape.at_ms > end) break;
    for (const auto& [id, value] : scrape.values) {
      const Sample sample{scrape.at_ms, value};
      counters_.append(id, {&sample, 1});
    }
  }
  Fetch fetched = counters_.finish();
  choose_names();
  if (const std::size_t dropped = std::exchange(dropped_, 0); dropped > 0) {
    fetched.problems.push_back(
        {"scrapes_dropped", target_.instance,
         fmt::format("{} scrapes were given up because they waited too long to be counted; their "
                     "counts are booked at the next one",
                     dropped)});
  }
  return fetched;
}

}  // namespace outcomed
