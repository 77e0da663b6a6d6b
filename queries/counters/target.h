// One scraped target: when it was seen, and which process answered each time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "queries/base/codec.h"
#include "queries/counters/samples.h"

namespace outcomed {

// A process behind a target, told apart by its start time. Processes whose start is not exposed
// have start 0 and are told apart by the drops of their counters.
struct Process {
  std::uint32_t id = 0;  // Unique within the target.
  double start = 0;      // Unix seconds; 0: unknown.
  std::int64_t first_seen = 0;
  std::int64_t last_seen = 0;
  std::int64_t before_batch = 0;  // last_seen when the present batch began; 0: not seen yet.
};

struct Scrape {
  std::int64_t at = 0;
  std::uint32_t process = 0;
};

class Target {
 public:
  Target(std::string name, std::string job) : name_(std::move(name)), job_(std::move(job)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& job() const { return job_; }

  // True once the target showed a counter that some signal wants.
  [[nodiscard]] bool relevant() const { return relevant_; }
  void make_relevant() { relevant_ = true; }

  // ---- building the scrapes of one batch: first one of these two, then seal() ----
  // Samples of process_start_time_seconds: they say at each scrape which process answered.
  void add_process_starts(std::span<const Sample> samples);
  // Sample times of any series, for targets that expose no start time; ascending within one call.
  void add_times(std::span<const Sample> samples);
  // A counter stood lower at `to` than at `from`: unless start times say otherwise, the process was
  // replaced between them.
  void add_drop(std::int64_t from, std::int64_t to) { drops_.push_back({from, to}); }
  // A counter that fell came back to where it had been: no process that restarted does that.
  void add_rebound(std::int64_t at) { rebounds_.push_back(at); }
  // Sorts, and gives each scrape its process. Returns true when a process began that was not known.
  bool seal();
  // Forgets the batch; what was learned of processes by seal() stays unless `undo`.
  void clear_batch();

  [[nodiscard]] bool has_starts() const { return has_starts_; }
  [[nodiscard]] const std::vector<Scrape>& scrapes() const { return scrapes_; }
  [[nodiscard]] const Process* process(std::uint32_t id) const;
  // The process that answered at `at`: of the scrape at that very time, else of the one before.
  // `cursor` is a position in scrapes() that only moves forward; start at 0.
  [[nodiscard]] std::uint32_t process_at(std::int64_t at, std::size_t& cursor) const {
    while (cursor + 1 < scrapes_.size() && scrapes_[cursor + 1].at <= at) ++cursor;
    return scrapes_.empty() ? last_process_ : scrapes_[cursor].process;
  }
  // The last scrape of any process before `at`; 0 when there was none.
  [[nodiscard]] std::int64_t scrape_before(std::int64_t at) const;
  // The last scrape of this process before `at`; 0 when there was none.
  [[nodiscard]] std::int64_t scrape_before(std::int64_t at, std::uint32_t process) const;
  [[nodiscard]] std::int64_t first_seen() const { return first_seen_; }
  [[nodiscard]] std::uint32_t last_process() const;
  // Counters that rise and fall again and again with no start time to tell processes apart: the
  // numbers of this target mean nothing.
  [[nodiscard]] bool flapping() const { return flapping_until_ != 0; }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  std::uint32_t find_or_add(double start, std::int64_t at);
  std::vector<std::int64_t> restarts() const;
  void assign_by_drops();
  void judge_flapping();

  std::string name_;
  std::string job_;
  bool relevant_ = false;
  std::vector<Process> processes_;
  std::int64_t first_seen_ = 0;
  std::int64_t last_scrape_ = 0;
  std::uint32_t last_process_ = 0;
  std::uint32_t next_process_ = 1;
  std::int64_t flapping_until_ = 0;
  std::vector<std::int64_t> rebounds_;  // Recent ones; persisted.

  bool has_starts_ = false;
  std::vector<Sample> starts_;
  std::vector<Scrape> scrapes_;
  std::vector<std::int64_t> times_;
  struct Drop {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  std::vector<Drop> drops_;
};

}  // namespace outcomed
