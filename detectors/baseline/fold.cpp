#include "detectors/baseline/fold.h"

#include <algorithm>
#include <utility>

namespace outcomed {
namespace {

// More than that in one bucket is no count of items.
constexpr std::int64_t kMostItems = 1'000'000'000'000;

bool is_sane(std::int64_t n, std::int64_t k) {
  return n >= 0 && k >= 0 && k <= n && n <= kMostItems;
}

}  // namespace

BaselineFold::BaselineFold(const BaselineDetector& detector, Labels group)
    : detector_(&detector), group_(std::move(group)), days_(detector.zone()), rule_(detector) {
  if (detector.params().restart_on.empty()) open_.resize(1);
}

void BaselineFold::add_member(const Labels& member) {
  if (detector_->params().restart_on.empty()) return;
  members_.push_back(member);
  open_.emplace_back();
}

// False, and nothing is added, where the numbers can't be true.
bool BaselineFold::add_counts(const BucketRun& run, std::size_t step) {
  if (detector_->params().restart_on.empty()) {
    if (!is_sane(run.n[step], run.k[step])) return false;
    open_[0].n += run.n[step];
    open_[0].k += run.k[step];
    return true;
  }
  const std::size_t known = std::min(open_.size(), run.members.size());
  for (std::size_t i = 0; i < known; ++i) {
    if (!is_sane(run.members[i].n[step], run.members[i].k[step])) return false;
  }
  for (std::size_t i = 0; i < known; ++i) {
    open_[i].n += run.members[i].n[step];
    open_[i].k += run.members[i].k[step];
  }
  return true;
}

void BaselineFold::advance(const BucketRun& run, std::size_t step) {
  const Bucket bucket = run[step];
  if (!days_.accepts(bucket)) return;
  if (days_.begins_another(bucket)) close_day();
  const bool sane = bucket.coverage != Coverage::complete || add_counts(run, step);
  if (days_.take(bucket, sane)) close_day();
}

// A threshold that is changed during a day leaves two members with items: the day is that of the
// one with most, and only its items count.
std::size_t BaselineFold::busiest() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < open_.size(); ++i) {
    if (open_[i].n >= open_[best].n && open_[i].n > 0) best = i;
  }
  return best;
}

void BaselineFold::close_day() {
  closed_ = days_.day();
  any_closed_ = true;
  seen_ = days_.seen();
  member_ = busiest();
  sums_ = open_.empty() ? Sums{} : open_[member_];
  std::ranges::fill(open_, Sums{});
  const std::optional<Judgement> unseen = days_.unseen();
  days_.close();
  judged_ = !unseen && sums_.n >= detector_->days().min_items;
  if (!judged_) {
    judgement_ = unseen.value_or(Judgement::too_few);
    return;
  }
  finding_ = rule_.judge({closed_, sums_.n, sums_.k}, static_cast<std::uint32_t>(member_));
  judgement_ = judgement_of(finding_.outcome, finding_.established);
}

Timestamp BaselineFold::onset() const {
  return days_.begin_of(finding_.since_days > 0 || finding_.onset > 0 ? finding_.onset
                                                                      : days_.day());
}

// Buckets without items leave nothing but where they end.
bool BaselineFold::idle() const {
  return rule_.fresh() &&
         std::ranges::all_of(open_, [](const Sums& sums) { return sums.n == 0 && sums.k == 0; });
}

void BaselineFold::save(Writer& writer) const {
  writer.u64(members_.size());
  for (const Labels& member : members_) writer.labels(member);
  days_.save(writer);
  writer.u64(open_.size());
  for (const Sums& sums : open_) {
    writer.i64(sums.n);
    writer.i64(sums.k);
  }
  rule_.save(writer);
  writer.u64(static_cast<std::uint64_t>(judgement_));
  writer.i64(closed_);
  writer.u64(any_closed_ ? 1 : 0);
  writer.u64(judged_ ? 1 : 0);
  writer.f64(seen_);
  writer.i64(sums_.n);
  writer.i64(sums_.k);
  writer.u64(member_);
  finding_.save(writer);
}

bool BaselineFold::load(Reader& reader) {
  members_.clear();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    members_.push_back(reader.labels());
  }
  if (!days_.load(reader)) return false;
  const std::uint64_t size = reader.u64();
  const bool split = !detector_->params().restart_on.empty();
  if (!reader.ok() || size != (split ? members_.size() : 1)) return false;
  open_.assign(size, {});
  for (Sums& sums : open_) {
    sums.n = reader.i64();
    sums.k = reader.i64();
  }
  if (!rule_.load(reader)) return false;
  judgement_ = static_cast<Judgement>(std::min<std::uint64_t>(reader.u64(), 6));
  closed_ = reader.i64();
  any_closed_ = reader.u64() != 0;
  judged_ = reader.u64() != 0;
  seen_ = reader.f64();
  sums_.n = reader.i64();
  sums_.k = reader.i64();
  member_ = reader.u64();
  if (!finding_.load(reader)) return false;
  return reader.ok() && (member_ < open_.size() || member_ == 0);
}

}  // namespace outcomed
