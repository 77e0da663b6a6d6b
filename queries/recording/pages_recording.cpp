#include "queries/recording/pages_recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "queries/exposition/text_format.h"
#include "queries/recording/file_pieces.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxUnixSeconds = 253'402'300'799.0;

// "017-1796005705.732.prom.gz" -> 17 and 1796005705732 ms.
bool read_page_name(std::string_view name, std::uint64_t& sequence, std::int64_t& at_ms) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  name.remove_suffix(std::string_view(".prom").size());
  const auto dash = name.find('-');
  if (dash == std::string_view::npos || dash == 0) return false;
  const char* end = name.data() + dash;
  const auto first = std::from_chars(name.data(), end, sequence);
  if (first.ptr != end || first.ec != std::errc()) return false;
  double seconds = 0;
  end = name.data() + name.size();
  const auto second = std::from_chars(name.data() + dash + 1, end, seconds);
  if (second.ptr != end || second.ec != std::errc()) return false;
  if (!(seconds > 0 && seconds <= kMaxUnixSeconds)) return false;
  at_ms = std::llround(seconds * 1000);
  return true;
}

bool is_page(std::string_view name) {
  return name.ends_with(".prom") || name.ends_with(".prom.gz");
}

// The folder's own name, without the way to it: it becomes a label.
std::string folder_name(const std::string& path) {
  fs::path folder = fs::path(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  return folder.filename().string();
}

}  // namespace

PagesRecording::PagesRecording(std::string path, std::vector<SignalPlan> plans)
    : path_(std::move(path)),
      counters_(std::move(plans)),
      target_{"recording", folder_name(path_)} {}

void PagesRecording::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  counters_.seed_cells(signal, cells);
}

const std::vector<Labels>& PagesRecording::cells(std::size_t signal) const {
  return counters_.cells(signal);
}

void PagesRecording::save(Writer& writer) const { counters_.save(writer, true); }

bool PagesRecording::load(Reader& reader) { return counters_.load(reader); }

Status PagesRecording::open() {
  if (!opened_) opened_ = list();
  return *opened_;
}

Status PagesRecording::list() {
  std::error_code error;
  std::string misnamed;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    Page page;
    page.file = it->path().filename().string();
    if (!is_page(page.file)) continue;
    if (read_page_name(page.file, page.sequence, page.at_ms)) {
      pages_.push_back(std::move(page));
    } else if (misnamed.empty() || page.file < misnamed) {
      misnamed = page.file;
    }
  }
  if (error) return Error{ErrorKind::invalid, fmt::format("{}: {}", path_, error.message())};
  if (!misnamed.empty()) {
    return Error{ErrorKind::invalid,
                 fmt::format("{}/{}: a page is named SEQ-UNIXSECONDS.prom or .prom.gz, such as "
                             "017-1796005705.732.prom.gz",
                             path_, misnamed)};
  }
  if (pages_.empty()) {
    const bool below = fs::is_directory(fs::path(path_) / "pages", error);
    return Error{
        ErrorKind::invalid,
        fmt::format(
            "{}: holds no page (SEQ-UNIXSECONDS.prom or .prom.gz){}", path_,
            below ? fmt::format("; did you mean {}?", (fs::path(path_) / "pages").string()) : "")};
  }
  sort_pages();
  return ok();
}

void PagesRecording::sort_pages() {
  std::ranges::sort(pages_, [](const Page& a, const Page& b) {
    return std::tie(a.at_ms, a.sequence, a.file) < std::tie(b.at_ms, b.sequence, b.file);
  });
  const auto disorder = std::ranges::adjacent_find(pages_, std::ranges::greater{}, &Page::sequence);
  if (disorder != pages_.end()) {
    problems_.push_back({"page_order", disorder->file,
                         fmt::format("its time is before, its number after that of {}; the time "
                                     "was believed",
                                     std::next(disorder)->file)});
  }
  const auto same = [](const Page& a, const Page& b) { return a.at_ms == b.at_ms; };
  for (auto it = std::ranges::adjacent_find(pages_, same); it != pages_.end();
       it = std::adjacent_find(it, pages_.end(), same)) {
    problems_.push_back({"same_time", std::next(it)->file,
                         fmt::format("has the time of {} and was left out", it->file)});
    pages_.erase(std::next(it));
  }
}

Result<std::optional<TimeRange>> PagesRecording::span() {
  if (Status status = open(); !status) return std::move(status).error();
  // Whole steps; a page at the very beginning only tells where the counters stood.
  const Duration step = counters_.step();
  TimeRange range{floor_to(from_unix_ms(pages_.front().at_ms), step),
                  floor_to(from_unix_ms(pages_.back().at_ms), step)};
  if (unix_ms(range.end) < pages_.back().at_ms || range.end == range.begin) range.end += step;
  return std::optional(range);
}

Status PagesRecording::feed(const Page& page) {
  const WantedNames names(counters_.selectors());
  std::string scratch;
  values_.clear();
  bool any = false;
  TextParser parser(
      TextFormat::prometheus, [&](std::string_view name) { return names.contains(name); },
      [&](const TextSample& sample) {
        saw_counter_ = saw_counter_ ||
                       std::ranges::any_of(counters_.selectors(), [&](const Selector& selector) {
                         return selector.metric == sample.name;
                       });
        const SeriesId id =
            counters_.open(sample.key(scratch), [&] { return target_.labels_of(sample); });
        values_.emplace_back(id, sample.value);
        return ok();
      });
  Status status = read_pieces((fs::path(path_) / page.file).string(), [&](std::string_view piece) {
    any = true;
    return parser.feed(piece);
  });
  if (status) status = parser.finish();
  if (status && !any) status = Error{ErrorKind::corrupt, "the page is empty"};
  if (!status) return status;
  values_.emplace_back(counters_.open("up", [&] { return target_.up(); }), 1.0);
  for (const auto& [id, value] : values_) {
    const Sample sample{page.at_ms, value};
    counters_.append(id, {&sample, 1});
  }
  return ok();
}

Result<Fetch> PagesRecording::fetch(TimeRange range) {
  if (Status status = open(); !status) return std::move(status).error();
  const auto after = [&](Timestamp t) {
    const auto found = std::ranges::upper_bound(pages_, unix_ms(t), {}, &Page::at_ms);
    return static_cast<std::size_t>(found - pages_.begin());
  };
  // The last page before the range tells where the counters stood; one read before is known.
  const std::size_t first = after(range.begin);
  const std::size_t baseline = first > 0 ? first - 1 : 0;
  if (next_ < baseline || next_ > first) next_ = baseline;

  counters_.begin(range);
  for (const std::size_t end = after(range.end); next_ < end; ++next_) {
    if (Status status = feed(pages_[next_]); status) {
      ++readable_;
    } else {
      problems_.push_back({"unreadable_page", pages_[next_].file,
                           fmt::format("{}; the page was left out", status.error().message)});
    }
  }
  if (next_ == pages_.size() && readable_ == 0) {
    return Error{ErrorKind::corrupt,
                 fmt::format("{}: none of its {} pages can be read; {}: {}", path_, pages_.size(),
                             problems_.back().where, problems_.back().message)};
  }
  if (next_ == pages_.size() && !saw_counter_) {
    return Error{
        ErrorKind::invalid,
        fmt::format("{}: none of its {} pages holds a counter that the signals read; check "
                    "their selectors",
                    path_, readable_)};
  }
  Fetch fetched = counters_.finish();
  std::ranges::move(std::exchange(problems_, {}), std::back_inserter(fetched.problems));
  return fetched;
}

}  // namespace outcomed
