// Feeds for the tests of detectors that judge days.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "detectors/detector.h"

namespace outcomed::testing {

inline constexpr std::int64_t kFirstDay = 20'755;  // 2026-10-29
inline constexpr Duration kDayLength = std::chrono::hours(24);

// Of feeds of evaluated items.
inline SignalWords items() { return {"items", "passed", std::chrono::hours(24), nullptr}; }

inline Timestamp midnight(std::int64_t day) { return Timestamp(kDayLength * day); }

// East of Greenwich by `hours`, one more in the half of the year that begins with `summer` (an
// instant) and ends with `winter`.
class MadeZone final : public TimeZone {
 public:
  MadeZone(int hours, Timestamp summer, Timestamp winter)
      : hours_(hours), summer_(summer), winter_(winter) {}
  [[nodiscard]] Duration offset(Timestamp at) const override {
    return hours_ + (at >= summer_ && at < winter_ ? std::chrono::hours(1) : std::chrono::hours(0));
  }

 private:
  std::chrono::hours hours_;
  Timestamp summer_;
  Timestamp winter_;
};

class OneZone final : public TimeZones {
 public:
  OneZone(std::string name, std::shared_ptr<const TimeZone> zone)
      : name_(std::move(name)), zone_(std::move(zone)) {}
  [[nodiscard]] std::shared_ptr<const TimeZone> find(std::string_view name) const override {
    return name == name_ ? zone_ : nullptr;
  }

 private:
  std::string name_;
  std::shared_ptr<const TimeZone> zone_;
};

inline std::string memory_of(const Fold& fold) {
  Writer writer;
  fold.save(writer);
  return writer.bytes();
}

// A run of buckets with members, some of it hostile.
struct MadeRun {
  Timestamp start = midnight(kFirstDay);
  Duration length = std::chrono::hours(6);
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
  std::vector<Coverage> coverage;
  std::vector<std::vector<std::int64_t>> member_n;
  std::vector<std::vector<std::int64_t>> member_k;
  std::vector<MemberRun> members;

  MadeRun(std::uint32_t seed, std::size_t steps, std::size_t member_count) {
    std::mt19937 random(seed);
    n.resize(steps);
    k.resize(steps);
    member_n.assign(member_count, std::vector<std::int64_t>(steps));
    member_k = member_n;
    double share = 0.4;
    std::size_t usual = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      if (random() % 60 == 0) share = random() % 2 == 0 ? 0.05 : 0.45;
      if (random() % 150 == 0) usual = random() % member_count;
      for (std::size_t m = 0; m < member_count; ++m) {
        std::int64_t items = random() % 12;
        if (m == usual) items += 15;
        std::int64_t passed = std::binomial_distribution<std::int64_t>(items, share)(random);
        if (random() % 2000 == 0) items = -5;
        if (random() % 2000 == 0) passed = items + 1;
        if (random() % 2000 == 0) items = INT64_MAX / 4;
        member_n[m][i] = items;
        member_k[m][i] = passed;
        n[i] += items / static_cast<std::int64_t>(member_count);
        k[i] += passed / static_cast<std::int64_t>(member_count);
      }
      coverage.push_back(random() % 25 == 0 ? static_cast<Coverage>(random() % 4)
                                            : Coverage::complete);
    }
    for (std::size_t m = 0; m < member_count; ++m) members.push_back({member_n[m], member_k[m]});
  }
  // The members' rows are this object's.
  MadeRun(const MadeRun&) = delete;
  MadeRun& operator=(const MadeRun&) = delete;

  [[nodiscard]] BucketRun run() const { return {start, length, n, k, coverage, members}; }
};

// Step by step, in long stretches, and stopped, saved and loaded now and then: the same memory.
// `start` makes a fold that knows no member yet; `member` names the i-th.
template <class Start, class Member>
std::string differing_step(const MadeRun& made, const Start& start, const Member& member) {
  const BucketRun run = made.run();
  const auto fresh = [&](bool with_members) {
    std::unique_ptr<Fold> fold = start();
    for (std::size_t m = 0; with_members && m < made.members.size(); ++m) {
      fold->add_member(member(m));
    }
    return fold;
  };
  const std::unique_ptr<Fold> stepped = fresh(true);
  const std::unique_ptr<Fold> at_once = fresh(true);
  std::unique_ptr<Fold> stored = fresh(true);
  std::size_t done = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (done == i) done += at_once->advance_to_breach(run, i);
    stepped->advance(run, i);
    stored->advance(run, i);
    if (i % 17 == 0) {
      const std::string bytes = memory_of(*stored);
      stored = fresh(false);
      Reader reader(bytes);
      if (!stored->load(reader) || !reader.at_end()) return "not loaded at " + std::to_string(i);
      if (memory_of(*stored) != bytes) return "saved otherwise at " + std::to_string(i);
      if (stored->verdict(0).sentence != stepped->verdict(0).sentence) {
        return "says otherwise at " + std::to_string(i);
      }
    }
    if (memory_of(*stored) != memory_of(*stepped)) return "stored: " + std::to_string(i);
    if (done != i + 1) continue;
    if (memory_of(*at_once) != memory_of(*stepped)) return "at once: " + std::to_string(i);
  }
  return "";
}

}  // namespace outcomed::testing
