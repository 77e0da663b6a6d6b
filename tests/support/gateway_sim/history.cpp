#include "tests/support/gateway_sim/history.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "tests/support/gateway_sim/number.h"

namespace outcomed::sim {
namespace {

using Part = MetricPage::Part;

constexpr std::uint32_t kUnwanted = kNoColumn - 1;
constexpr std::size_t kPiece = 1 << 20;
constexpr std::string_view kTarget = "instance=\"127.0.0.1:4000\",job=\"litellm\"";

// Where among the labels, which are in order, `instance` and `job` stand.
std::string with_target(std::string_view labels) {
  std::size_t at = 0;
  while (at < labels.size() && labels.substr(at) < "instance=") {
    // To the next label: behind the quote that ends this one's value.
    std::size_t quote = labels.find('"', at) + 1;
    while (labels[quote] != '"') quote += labels[quote] == '\\' ? 2 : 1;
    at = std::min(quote + 2, labels.size());
  }
  const std::string_view before = labels.substr(0, at);
  const std::string_view after = labels.substr(at);
  if (after.empty()) return fmt::format("{}{}{}", before, before.empty() ? "" : ",", kTarget);
  return fmt::format("{}{},{}", before, kTarget, after);
}

void append_time(std::string& out, std::int64_t at_ms) {
  fmt::format_to(std::back_inserter(out), " {}", at_ms / 1000);
  if (at_ms % 1000 != 0) fmt::format_to(std::back_inserter(out), ".{:03}", at_ms % 1000);
  out += '\n';
}

void write_samples(std::string_view gauge, const SampleColumn& samples, std::string& out) {
  fmt::format_to(std::back_inserter(out), "# TYPE {} gauge\n", gauge);
  SampleColumn::Cursor cursor;
  Sample sample;
  while (samples.next(cursor, sample)) {
    fmt::format_to(std::back_inserter(out), "{}{{{}}} ", gauge, kTarget);
    append_number(out, sample.value);
    append_time(out, sample.at_ms);
  }
}

}  // namespace

bool History::wanted(std::string_view name) const {
  return only_.empty() || std::ranges::any_of(only_, [&](const std::string& part) {
           return name.find(part) != std::string_view::npos;
         });
}

std::uint32_t History::column_of(const std::string& labels, std::size_t family, Part part) {
  const std::string name =
      fmt::format("{}{}", MetricPage::name_of(family), MetricPage::suffix_of(part));
  if (!wanted(name)) return kUnwanted;
  const auto [found, fresh] =
      places_.try_emplace(name + '{' + labels, static_cast<std::uint32_t>(columns_.size()));
  if (fresh) columns_.push_back({family, part, with_target(labels), {}});
  return found->second;
}

void History::scrape(Gateway& gateway, std::int64_t unix_ms) {
  up_.add({unix_ms, gateway.up() ? 1.0 : 0.0});
  ++samples_;
  if (!gateway.up()) return;
  process_start_.add({unix_ms, gateway.process().start});
  ++samples_;
  gateway.metrics().visit([&](std::uint32_t& column, const std::string& labels, std::size_t family,
                              Part part, double value) {
    if (column == kNoColumn) column = column_of(labels, family, part);
    if (column == kUnwanted) return;
    columns_[column].samples.add({unix_ms, value});
    ++samples_;
  });
}

void History::write_column(const Column& column, std::string& out,
                           const std::function<void(std::string_view)>& take) const {
  const std::string head = fmt::format("{}{}{{{}}} ", MetricPage::name_of(column.family),
                                       MetricPage::suffix_of(column.part), column.labels);
  SampleColumn::Cursor cursor;
  Sample sample;
  while (column.samples.next(cursor, sample)) {
    out += head;
    append_number(out, sample.value);
    append_time(out, sample.at_ms);
    if (out.size() < kPiece) continue;
    take(out);
    out.clear();
  }
}

void History::write(const std::function<void(std::string_view)>& take) const {
  std::vector<const Column*> order;
  for (const Column& column : columns_) order.push_back(&column);
  std::ranges::stable_sort(order, {}, [](const Column* column) {
    return std::tuple(column->family, std::string_view(column->labels), column->part);
  });
  std::string out;
  std::size_t family = kFamilies;
  for (const Column* column : order) {
    if (column->family != family) {
      family = column->family;
      // Without their buckets histograms have no type.
      const MetricPage::Kind kind = MetricPage::kind_of(family);
      if (kind != MetricPage::Kind::histogram) {
        fmt::format_to(std::back_inserter(out), "# TYPE {} {}\n", MetricPage::name_of(family),
                       kind == MetricPage::Kind::counter ? "counter" : "gauge");
      }
    }
    write_column(*column, out, take);
  }
  write_samples("process_start_time_seconds", process_start_, out);
  write_samples("up", up_, out);
  out += "# EOF\n";
  take(out);
}

}  // namespace outcomed::sim
