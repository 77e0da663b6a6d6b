// The rows of a simulated gateway against what its clients got and what its metrics say, counted by
// the preset's own counter.
#include "tests/support/gateway_sim/ledger.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "queries/litellm/ledger_counter.h"
#include "queries/litellm/preset.h"
#include "queries/litellm/spend_signals.h"
#include "queries/recording/recording_source.h"
#include "tests/queries/recording/recording_files.h"
#include "tests/support/client_truth.h"
#include "tests/support/gateway_sim/gateway.h"
#include "tests/support/gateway_sim/history.h"
#include "tests/support/spend_rows.h"

namespace outcomed::sim {
namespace {

using testing::SpendRowText;
using testing::Truth;

constexpr std::int64_t kOrigin = 1'796'000'040'000;  // A whole minute.
constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kMinutes = 110;
constexpr std::int64_t kLate = 60'000;

GatewayOptions options_of(const std::string& version) {
  GatewayOptions options;
  options.version = version;
  options.script = *parse_script(*builtin_script("all"));
  options.origin_ms = kOrigin;
  options.seed = 42;
  return options;
}

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream in(line);
  for (std::string column; std::getline(in, column, '\t');) columns.push_back(column);
  return columns;
}

// The name that newer gateways write for models that aren't there.
std::string known_model(std::string_view model) {
  const bool unknown = model == "nosuch" || model == "other" || model == "unknown-model";
  return std::string(unknown ? "nosuch" : model);
}

// Plays all scenarios once.
class Played {
 public:
  explicit Played(const std::string& version, std::int64_t piece = kMinute)
      : ledger_(*traits_of(version), 42, kLate) {
    auto gateway = Gateway::make(
        options_of(version), [this](const ClientRequest& request) { note(request); },
        [this](const LedgerEntry& entry) { ledger_.add(entry); });
    EXPECT_TRUE(gateway) << gateway.error().message;
    const auto take = [this](std::string_view lines) { text += lines; };
    for (std::int64_t at = 0; at <= kMinutes * kMinute; at += piece) {
      gateway->advance_to(at);
      if (at % kMinute == 0) history.scrape(*gateway, kOrigin + at);
      ledger_.land(kOrigin + at, take);
    }
    landed_late = text.size();
    ledger_.land(kOrigin + kMinutes * kMinute + kLate, take);
  }

  [[nodiscard]] std::vector<SpendRowText> rows() const {
    std::string head = Ledger::header();
    head.pop_back();
    const std::vector<std::string> names = columns_of(head);
    std::vector<SpendRowText> rows;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const std::vector<std::string> values = columns_of(line);
      EXPECT_EQ(values.size(), names.size()) << line;
      SpendRowText row;
      for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
        row[names[i]] = values[i];
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }
  // Of the signal `requests` as the metrics say it.
  Truth metrics(const std::string& version) {
    std::ofstream(folder_ / "h.om") << [this] {
      std::string all;
      history.write([&](std::string_view piece) { all += piece; });
      return all;
    }();
    litellm::PresetSettings settings;
    settings.version = version;
    SignalPlan plan = litellm::signals(settings).front();
    plan.labels = {"model"};
    RecordingSource source({folder_ / "h.om"}, {plan});
    const auto fetched =
        source.fetch({from_unix_ms(kOrigin), from_unix_ms(kOrigin + kMinutes * kMinute)});
    EXPECT_TRUE(fetched) << fetched.error().message;
    Truth sums;
    const SignalBatch& batch = fetched->batches[0];
    for (std::size_t i = 0; i < batch.n.size(); ++i) {
      const Labels& cell = source.cells(0)[i / batch.steps()];
      const std::string model = known_model(cell.get("model"));
      if (batch.n[i] != 0) sums.n[model] += batch.n[i];
      if (batch.k[i] != 0) sums.k[{model, std::string(cell.get("error_class"))}] += batch.k[i];
    }
    return sums;
  }

  Truth truth;   // By the model asked for.
  Truth booked;  // By the model that served.
  std::int64_t timeouts = 0;
  std::string text;
  std::size_t landed_late = 0;
  History history;

 private:
  void note(const ClientRequest& request) {
    const std::string model(request.model);
    ++truth.n[model];
    ++booked.n[request.served_by.empty() ? model : std::string(request.served_by)];
    if (request.status == 200) return;
    ++truth.k[{model, std::string(request.error_class)}];
    ++booked.k[{model, std::string(request.error_class)}];
    timeouts += request.error_class == "deadline_exceeded";
  }

  Ledger ledger_;
  testing::RecordingFolder folder_;
};

// As a database would hand the rows over.
Truth counted(const std::vector<SpendRowText>& rows, const std::string& signal = "requests") {
  std::vector<SignalPlan> plans;
  for (SignalPlan& plan : litellm::spend_signals({})) {
    if (plan.name == signal) plans.push_back(std::move(plan));
  }
  litellm::LedgerCounter counter(plans);
  std::vector<std::string> expressions;
  for (const RowColumn& column : counter.table().columns) expressions.push_back(column.expression);
  Truth sums;
  for (const SpendRowText& row : rows) {
    auto texts = testing::take_from_metadata(row.at("metadata"), expressions);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto found = row.find(counter.table().columns[i].name);
      if (found != row.end() && expressions[i].empty()) texts[i] = {true, found->second};
    }
    std::vector<SqlValue> values;
    for (const auto& text : texts) values.push_back(text.there ? SqlValue(text.text) : SqlValue());
    std::vector<RowCount> counts;
    counter.count(row.at("request_id"), Timestamp{}, values, counts);
    for (const RowCount& count : counts) {
      const Labels& cell = counter.cells(0)[count.cell];
      const std::string model = known_model(cell.get("model"));
      if (count.n != 0) sums.n[model] += count.n;
      if (count.k != 0) sums.k[{model, std::string(cell.get("error_class"))}] += count.k;
    }
  }
  EXPECT_TRUE(counter.take_problems().empty());
  return sums;
}

TEST(SimulatedLedger, EqualsWhatTheClientsGotAndWhatTheMetricsSay) {
  Played played("1.106.12");
  const Truth rows = counted(played.rows());
  EXPECT_EQ(rows.n, played.truth.n);
  EXPECT_EQ(rows.k, played.truth.k);
  EXPECT_GT(rows.k.size(), 10U);
  const Truth metrics = played.metrics("1.106.12");
  EXPECT_EQ(rows.n, metrics.n);
  EXPECT_EQ(rows.k, metrics.k);
}

TEST(SimulatedLedger, OfAnOldGatewayBooksFallbacksOnTheModelThatServed) {
  Played played("1.81.9");
  const Truth rows = counted(played.rows());
  EXPECT_EQ(rows.n, played.booked.n);
  EXPECT_EQ(rows.k, played.booked.k);
  EXPECT_NE(rows.n, played.truth.n);
  const Truth metrics = played.metrics("1.81.9");
  EXPECT_EQ(metrics.k, rows.k);
  EXPECT_EQ(metrics.n, played.truth.n);
}

TEST(SimulatedLedger, HasAttemptsThatAreNoRequestsAndTokensOfEachKind) {
  Played played("1.106.12");
  std::int64_t attempts = 0;
  std::set<std::string> ids;
  for (const SpendRowText& row : played.rows()) {
    attempts += row.at("request_id").find("-attempt-") != std::string::npos;
    ids.insert(row.at("request_id"));
  }
  EXPECT_EQ(ids.size(), played.rows().size());
  EXPECT_GT(attempts, 0);
  EXPECT_LT(attempts, played.timeouts);
  const Truth reasoning = counted(played.rows(), "reasoning");
  std::int64_t n = 0;
  std::int64_t k = 0;
  for (const auto& [model, tokens] : reasoning.n) n += tokens;
  for (const auto& [model, tokens] : reasoning.k) k += tokens;
  EXPECT_NEAR(double(k) / double(n), 0.2, 0.01);
}

TEST(SimulatedLedger, LandsInBatchesLateAndTheSameHoweverTheWayIsCut) {
  Played whole("1.106.12");
  std::set<std::string> batches;
  double least = 1e9;
  double most = 0;
  for (const SpendRowText& row : whole.rows()) {
    batches.insert(row.at("visible_at"));
    const auto end = parse_timestamp(row.at("endTime") + "Z");
    ASSERT_TRUE(end) << row.at("endTime");
    const double late = std::stod(row.at("visible_at")) - double(unix_ms(*end)) / 1000;
    least = std::min(least, late);
    most = std::max(most, late);
  }
  EXPECT_GE(least, 9.99);
  EXPECT_LE(most, 60.01);
  EXPECT_GT(most, 50);
  EXPECT_GT(batches.size(), 500U);
  EXPECT_LT(whole.landed_late, whole.text.size());  // What was still on its way at the end.
  EXPECT_EQ(Played("1.106.12", 7'500).text, whole.text);
}

}  // namespace
}  // namespace outcomed::sim
