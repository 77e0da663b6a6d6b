#include "queries/counters/target.h"

#include <algorithm>
#include <cmath>

namespace outcomed {
namespace {

// More processes than this behind one address are remembered only by the newest.
constexpr std::size_t kMaxProcesses = 64;
// One rebound may be a busy counter that really restarted; a second one within ten minutes is not.
constexpr std::size_t kFlappingRebounds = 2;
constexpr std::int64_t kFlappingSpan = 10 * 60'000;
// So long must the counters behave before their numbers are believed again.
constexpr std::int64_t kFlappingRest = 60 * 60'000;

}  // namespace

void Target::add_process_starts(std::span<const Sample> samples) {
  for (const Sample& sample : samples) {
    if (std::isfinite(sample.value)) starts_.push_back(sample);
  }
}

void Target::add_times(std::span<const Sample> samples) {
  // Nearly every series has the times of the one before: walk along, and note only what is new.
  std::size_t at = 0;
  std::vector<std::int64_t> fresh;
  for (const Sample& sample : samples) {
    while (at < times_.size() && times_[at] < sample.at_ms) ++at;
    if (at == times_.size() || times_[at] != sample.at_ms) fresh.push_back(sample.at_ms);
  }
  if (fresh.empty()) return;
  const auto middle = static_cast<std::ptrdiff_t>(times_.size());
  times_.insert(times_.end(), fresh.begin(), fresh.end());
  std::ranges::sort(times_.begin() + middle, times_.end());
  std::inplace_merge(times_.begin(), times_.begin() + middle, times_.end());
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
}

std::uint32_t Target::find_or_add(double start, std::int64_t at) {
  for (Process& process : processes_) {
    if (process.start == start) {
      process.first_seen = std::min(process.first_seen, at);
      process.last_seen = std::max(process.last_seen, at);
      return process.id;
    }
  }
  if (processes_.size() >= kMaxProcesses) {
    processes_.erase(std::ranges::min_element(processes_, {}, &Process::last_seen));
  }
  processes_.push_back({next_process_++, start, at, at, 0});
  return processes_.back().id;
}

// One restart explains every drop whose span it lies in (counters come back one by one, each at its
// first event): the fewest restarts that explain them all, each as early as it can be.
std::vector<std::int64_t> Target::restarts() const {
  std::vector<Drop> drops = drops_;
  std::ranges::sort(drops, {}, &Drop::to);
  std::vector<std::int64_t> found;
  for (const Process& process : processes_) found.push_back(process.first_seen);
  const std::size_t known = found.size();
  for (const Drop& drop : drops) {
    const bool explained = std::ranges::any_of(
        found, [&](std::int64_t at) { return drop.from < at && at <= drop.to; });
    if (!explained) found.push_back(drop.to);
  }
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(known));
  std::ranges::sort(found);
  return found;
}

void Target::assign_by_drops() {
  const std::vector<std::int64_t> restarted = restarts();
  if (processes_.empty() && !times_.empty()) {
    processes_.push_back({next_process_++, 0, times_.front(), times_.front(), 0});
  }
  for (const std::int64_t at : times_) {
    const bool fresh = at > last_scrape_ && std::ranges::binary_search(restarted, at);
    if (fresh) processes_.push_back({next_process_++, 0, at, at, 0});
    if (processes_.size() > kMaxProcesses) processes_.erase(processes_.begin());
    Process& current = processes_.back();
    current.last_seen = std::max(current.last_seen, at);
    scrapes_.push_back({at, current.id});
  }
}

void Target::judge_flapping() {
  if (scrapes_.empty()) return;
  std::ranges::sort(rebounds_);
  rebounds_.erase(std::unique(rebounds_.begin(), rebounds_.end()), rebounds_.end());
  for (std::size_t i = kFlappingRebounds - 1; i < rebounds_.size(); ++i) {
    if (rebounds_[i] - rebounds_[i - (kFlappingRebounds - 1)] <= kFlappingSpan) {
      flapping_until_ = std::max(flapping_until_, rebounds_[i] + kFlappingRest);
    }
  }
  const std::int64_t newest = scrapes_.back().at;
  if (newest > flapping_until_) flapping_until_ = 0;
  std::erase_if(rebounds_, [&](std::int64_t at) { return at < newest - kFlappingRest; });
}

bool Target::seal() {
  const std::uint32_t known = next_process_;
  for (Process& process : processes_) process.before_batch = process.last_seen;
  has_starts_ = !starts_.empty();
  if (has_starts_) {
    std::ranges::sort(starts_, {}, &Sample::at_ms);
    for (const Sample& sample : starts_) {
      if (!scrapes_.empty() && scrapes_.back().at == sample.at_ms) continue;
      scrapes_.push_back({sample.at_ms, find_or_add(sample.value, sample.at_ms)});
    }
    rebounds_.clear();
    flapping_until_ = 0;
  } else {
    assign_by_drops();
    judge_flapping();
  }
  if (!scrapes_.empty()) {
    if (first_seen_ == 0) first_seen_ = scrapes_.front().at;
    first_seen_ = std::min(first_seen_, scrapes_.front().at);
    if (scrapes_.back().at >= last_scrape_) {
      last_scrape_ = scrapes_.back().at;
      last_process_ = scrapes_.back().process;
    }
  }
  return next_process_ != known;
}

void Target::clear_batch() {
  has_starts_ = false;
  starts_.clear();
  scrapes_.clear();
  times_.clear();
  drops_.clear();
}

const Process* Target::process(std::uint32_t id) const {
  const auto found = std::ranges::find(processes_, id, &Process::id);
  return found == processes_.end() ? nullptr : &*found;
}

std::int64_t Target::scrape_before(std::int64_t at) const {
  const auto next = std::ranges::lower_bound(scrapes_, at, {}, &Scrape::at);
  if (next != scrapes_.begin()) return std::prev(next)->at;
  std::int64_t latest = 0;
  for (const Process& process : processes_) {
    if (process.before_batch < at) latest = std::max(latest, process.before_batch);
  }
  return latest;
}

std::int64_t Target::scrape_before(std::int64_t at, std::uint32_t id) const {
  for (auto it = std::ranges::lower_bound(scrapes_, at, {}, &Scrape::at); it != scrapes_.begin();) {
    --it;
    if (it->process == id) return it->at;
  }
  const Process* found = process(id);
  return found != nullptr && found->before_batch < at ? found->before_batch : 0;
}

std::uint32_t Target::last_process() const { return last_process_; }

void Target::save(Writer& writer) const {
  writer.text(name_);
  writer.text(job_);
  writer.u64(relevant_ ? 1 : 0);
  writer.u64(processes_.size());
  for (const Process& process : processes_) {
    writer.u64(process.id);
    writer.f64(process.start);
    writer.i64(process.first_seen);
    writer.i64(process.last_seen);
  }
  writer.i64(first_seen_);
  writer.i64(last_scrape_);
  writer.u64(last_process_);
  writer.u64(next_process_);
  writer.i64(flapping_until_);
  writer.u64(rebounds_.size());
  for (const std::int64_t at : rebounds_) writer.i64(at);
}

bool Target::load(Reader& reader) {
  name_ = reader.text();
  job_ = reader.text();
  relevant_ = reader.u64() != 0;
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    Process process;
    process.id = static_cast<std::uint32_t>(reader.u64());
    process.start = reader.f64();
    process.first_seen = reader.i64();
    process.last_seen = reader.i64();
    processes_.push_back(process);
  }
  first_seen_ = reader.i64();
  last_scrape_ = reader.i64();
  last_process_ = static_cast<std::uint32_t>(reader.u64());
  next_process_ = static_cast<std::uint32_t>(reader.u64());
  flapping_until_ = reader.i64();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    rebounds_.push_back(reader.i64());
  }
  return reader.ok();
}

}  // namespace outcomed
