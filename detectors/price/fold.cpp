#include "detectors/price/fold.h"

#include <algorithm>
#include <utility>

#include "detectors/sentence.h"
#include "queries/prices/price_table.h"

namespace outcomed {
namespace {

constexpr Duration kDay = std::chrono::hours(24);

// What is kept of each value of `compare`.
constexpr std::array<SpendKind, 7> kNameColumns = {
    SpendKind::requests,      SpendKind::recorded_cost, SpendKind::unmatched_cost,
    SpendKind::expected_cost, SpendKind::rows_priced,   SpendKind::rows_off,
    SpendKind::rows_unpriced};

std::int64_t slot_number(Timestamp at, Duration slot) {
  return unix_ms(floor_to(at, slot)) / slot.count();
}

SpendAmounts sums_of(const SpendWindow& window) {
  SpendAmounts amounts;
  for (std::size_t i = 0; i < kSpendKinds; ++i) amounts.values[i] = window.sum(i);
  return amounts;
}

SpendAmounts slot_of(const SpendWindow& window, std::size_t back) {
  SpendAmounts amounts;
  for (std::size_t i = 0; i < kSpendKinds; ++i) amounts.values[i] = window.at(back, i);
  return amounts;
}

bool is_empty(const SpendAmounts& amounts) { return amounts == SpendAmounts{}; }

int known_days(const SpendWindow& days) {
  int known = 0;
  for (std::size_t back = 0; back < days.slots(); ++back) {
    known += is_empty(slot_of(days, back)) ? 0 : 1;
  }
  return known;
}

}  // namespace

PriceFold::PriceFold(const PriceDetector& detector, Labels group)
    : detector_(&detector),
      group_(std::move(group)),
      window_(detector.slots(), kSpendKinds),
      days_(PriceDetector::kLongDays, kSpendKinds) {}

std::optional<std::size_t> PriceFold::name_of(const std::string& text) {
  const auto found = std::ranges::find(names_, text, &Name::text);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  if (names_.size() >= kMaxNames) return std::nullopt;
  names_.push_back({text, SpendWindow(detector_->slots(), kNameColumns.size())});
  return names_.size() - 1;
}

void PriceFold::add_member(const Labels& labels) {
  Member member;
  member.kind = spend_kind(labels.get(kSpendKindLabel));
  const std::string& compare = detector_->params().compare;
  if (member.kind && !compare.empty()) member.name = name_of(std::string(labels.get(compare)));
  members_.push_back(member);
}

void PriceFold::advance(const BucketRun& run, std::size_t step) {
  const Bucket bucket = run[step];
  at_ = bucket.end();
  coverage_ = bucket.coverage;
  const std::int64_t slot = slot_number(bucket.start, detector_->slot());
  window_.move_to(slot);
  days_.move_to(slot_number(bucket.start, kDay));
  for (Name& name : names_) name.window.move_to(slot);
  if (coverage_ != Coverage::complete) return;  // What happened in the step is not known.
  const std::size_t rows = std::min(members_.size(), run.members.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t amount = run.members[i].n[step];
    const Member& member = members_[i];
    if (amount == 0 || !member.kind) continue;
    window_.add(static_cast<std::size_t>(*member.kind), amount);
    days_.add(static_cast<std::size_t>(*member.kind), amount);
    if (!member.name) continue;
    const auto column = std::ranges::find(kNameColumns, *member.kind);
    if (column == kNameColumns.end()) continue;
    names_[*member.name].window.add(static_cast<std::size_t>(column - kNameColumns.begin()),
                                    amount);
  }
  judge();
}

void PriceFold::judge() {
  const PriceParams& params = detector_->params();
  const SpendAmounts amounts = sums_of(window_);
  const int days = params.blended ? known_days(days_) : 0;
  findings_ = {};
  enough_ = params.against_prices && judged_rows(amounts) >= params.min_requests &&
            amounts.of(SpendKind::expected_cost) >= params.least_cost.nano;
  if (enough_) {
    findings_ = find_in(amounts, params.blended ? sums_of(days_) : SpendAmounts{}, days, params);
    findings_.names = !names_.empty() && unlike_names(named_costs(), params).has_value();
  }
  if (params.judges_successes()) {
    const SuccessCost now = success_cost(amounts);
    enough_ |= now.successes >= params.min_requests;
    const SuccessCost then = params.dearer ? success_cost(before()) : SuccessCost{};
    judge_successes(now, then, params.dearer ? known_days_before() : 0, params, findings_);
  }
  const bool now = breached();
  if (now && !was_breached_) onset_ = most_likely_onset();
  was_breached_ = now;
}

SpendAmounts PriceFold::before() const { return without(sums_of(days_), sums_of(window_)); }

int PriceFold::known_days_before() const {
  const Duration window = detector_->params().window;
  return known_days(days_) - static_cast<int>((window + kDay - Duration(1)) / kDay);
}

// A slot that would be a finding by itself, however few its rows.
bool PriceFold::is_off(std::size_t slots_back) const {
  PriceParams params = detector_->params();
  params.min_rows = params.min_requests = 1;
  params.blended = false;
  const SpendAmounts amounts = slot_of(window_, slots_back);
  PriceFindings found;
  if (params.against_prices) found = find_in(amounts, amounts, 0, params);
  if (findings_.of_successes()) {
    judge_successes(success_cost(amounts), success_cost(before()), known_days_before(), params,
                    found);
  }
  return found.any();
}

// The newest slots that are off or empty, as far back as they go without one that is right.
Timestamp PriceFold::most_likely_onset() const {
  std::size_t first = 0;
  for (std::size_t back = 0; back < window_.slots(); ++back) {
    if (is_empty(slot_of(window_, back))) continue;
    if (!is_off(back)) break;
    first = back;
  }
  return Timestamp(detector_->slot() * (window_.newest() - static_cast<std::int64_t>(first)));
}

std::vector<NamedCosts> PriceFold::named_costs() const {
  std::vector<NamedCosts> costs;
  for (const Name& name : names_) {
    SpendAmounts amounts;
    for (std::size_t i = 0; i < kNameColumns.size(); ++i) {
      amounts.add(kNameColumns[i], name.window.sum(i));
    }
    if (!is_empty(amounts)) costs.push_back({name.text, compared(amounts)});
  }
  return costs;
}

Judgement PriceFold::judgement(std::size_t) const {
  if (const auto unseen = judgement_of(coverage_)) return *unseen;
  if (!enough_) return Judgement::too_few;
  return findings_.any() ? Judgement::breached : Judgement::healthy;
}

PriceReport PriceFold::report() const {
  PriceReport report;
  report.subject = subject(group_);
  report.currency = detector_->currency();
  report.amounts = sums_of(window_);
  report.days = sums_of(days_);
  report.known_days = known_days(days_);
  report.before = success_cost(before());
  report.findings = findings_;
  report.names = named_costs();
  report.at = at_;
  if (detector_->words().prices) {
    for (const char* label : {"provider_model", "model"}) {
      const std::string_view name = group_.get(label);
      if (!name.empty() && !report.entry) {
        report.entry = detector_->words().prices->find(name, at_);
      }
    }
  }
  return report;
}

void PriceFold::describe_successes(const PriceReport& report, Verdict& verdict) const {
  const PriceParams& params = detector_->params();
  const SuccessCost now = success_cost(report.amounts);
  verdict.n = report.amounts.of(SpendKind::requests);
  verdict.k = std::max<std::int64_t>(0, verdict.n - now.successes);
  if (params.most_per_success && !findings_.dearer) {
    // Of what it may cost; a limit of nothing is passed without end.
    const auto most = static_cast<double>(std::max<std::int64_t>(1, params.most_per_success->nano));
    verdict.measured = now.each() / most;
    verdict.threshold = 1;
  } else {
    verdict.measured = report.before.each() > 0 ? now.each() / report.before.each() : 1;
    verdict.threshold = 1 + params.dearer.value_or(0);
  }
  verdict.low = verdict.high = verdict.measured;
  verdict.sentence = success_sentence(report, params);
}

Verdict PriceFold::verdict(std::size_t tier) const {
  const PriceParams& params = detector_->params();
  const PriceReport all = report();
  const bool long_ratio = params.blended && (findings_.low || findings_.high);
  Verdict verdict;
  verdict.judgement = judgement(tier);
  verdict.at = at_;
  verdict.onset = onset_;
  verdict.n = judged_rows(all.amounts);
  verdict.k = add_held(wrong_rows(all.amounts, params), all.amounts.of(SpendKind::rows_unpriced));
  verdict.measured = compared(long_ratio ? all.days : all.amounts).ratio();
  verdict.low = verdict.high = verdict.measured;  // Sums, not samples.
  const double tolerance = params.tolerance.value_or(0);
  verdict.threshold = verdict.measured > 1 ? 1 + tolerance : 1 - tolerance;
  verdict.sentence = price_sentence(all, params);
  verdict.facts = price_facts(all, params);
  if (is_about_successes(findings_, params)) describe_successes(all, verdict);
  add_since(verdict);
  return verdict;
}

void PriceFold::save(Writer& writer) const {
  writer.u64(static_cast<std::uint64_t>(coverage_));
  writer.i64(unix_ms(at_));
  writer.i64(unix_ms(onset_));
  std::uint64_t flags = 0;
  for (const bool flag :
       {findings_.low, findings_.high, findings_.rows, findings_.unpriced, findings_.estimated,
        findings_.names, findings_.dear, findings_.dearer, enough_, was_breached_}) {
    flags = flags << 1 | (flag ? 1U : 0U);
  }
  writer.u64(flags);
  window_.save(writer);
  days_.save(writer);
  writer.u64(names_.size());
  for (const Name& name : names_) {
    writer.text(name.text);
    name.window.save(writer);
  }
  writer.u64(members_.size());
  for (const Member& member : members_) {
    writer.u64(member.kind ? static_cast<std::uint64_t>(*member.kind) + 1 : 0);
    writer.u64(member.name ? *member.name + 1 : 0);
  }
}

bool PriceFold::load(Reader& reader) {
  coverage_ = static_cast<Coverage>(std::min<std::uint64_t>(reader.u64(), 3));
  at_ = from_unix_ms(reader.i64());
  onset_ = from_unix_ms(reader.i64());
  std::uint64_t flags = reader.u64();
  for (bool* flag : {&was_breached_, &enough_, &findings_.dearer, &findings_.dear, &findings_.names,
                     &findings_.estimated, &findings_.unpriced, &findings_.rows, &findings_.high,
                     &findings_.low}) {
    *flag = (flags & 1) != 0;
    flags >>= 1;
  }
  if (!window_.load(reader) || !days_.load(reader)) return false;
  const std::uint64_t names = reader.u64();
  if (names > kMaxNames) return false;
  names_.clear();
  for (std::uint64_t i = 0; i < names && reader.ok(); ++i) {
    names_.push_back({reader.text(), SpendWindow(detector_->slots(), kNameColumns.size())});
    if (!names_.back().window.load(reader)) return false;
  }
  members_.clear();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    const std::uint64_t kind = reader.u64();
    const std::uint64_t name = reader.u64();
    if (kind > kSpendKinds || name > names_.size()) return false;
    Member member;
    if (kind > 0) member.kind = static_cast<SpendKind>(kind - 1);
    if (name > 0) member.name = name - 1;
    members_.push_back(member);
  }
  return reader.ok();
}

}  // namespace outcomed
