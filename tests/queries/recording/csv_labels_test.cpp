// Which label columns split n and which repeat it.
#include "tests/queries/recording/csv_file.h"

namespace outcomed::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One minute of three groups: 77 and 912 requests, 73 of them failed.
constexpr std::string_view kTwoModels =
    "signal,start,seconds,n,k,model,error_class\n"
    "outcomes,60,60,77,71,judge,router_refusal\noutcomes,60,60,77,2,judge,provider_unavailable\n"
    "outcomes,60,60,912,0,gpt-4o,\n";

std::pair<std::int64_t, std::int64_t> counted(std::string_view text, const SignalPlan& plan) {
  CsvFile file(std::string(text), {plan});
  const Fetch fetched = file.fetch(minutes(1, 2));
  return {total(fetched.batches[0].n), total(fetched.batches[0].k)};
}

TEST(CsvRecording, AddsUpALabelThatTheSignalDoesNotTellApart) {
  CsvFile file(
      "signal,start,seconds,n,k,model,team\n"
      "requests,60,60,10,1,a,x\nrequests,60,60,20,2,a,y\n");
  const Fetch fetched = file.fetch(minutes(1, 2));
  EXPECT_EQ(fetched.batches[0].n, std::vector<std::int64_t>{30});
  EXPECT_EQ(fetched.batches[0].k, std::vector<std::int64_t>{3});
  EXPECT_THAT(fetched.facts, ElementsAre(HasSubstr("team")));
}

TEST(CsvRecording, ReadsAnUndeclaredColumnThatRepeatsRequestsAsAFailureLabel) {
  CsvFile file(
      "signal,start,seconds,n,k,model,error_class\n"
      "outcomes,60,60,77,71,judge,router_refusal\noutcomes,60,60,77,2,judge,rate_limited\n"
      "outcomes,120,60,50,0,judge,\n",
      {plan_named("outcomes", {"model"}, {})});
  const Fetch fetched = file.fetch(minutes(1, 3));
  EXPECT_EQ(fetched.batches[0].n, (std::vector<std::int64_t>{77, 50}));
  EXPECT_EQ(fetched.batches[0].k, (std::vector<std::int64_t>{73, 0}));
  EXPECT_THAT(fetched.facts, ElementsAre(HasSubstr("error_class")));
}

TEST(CsvRecording, CountsTheSameWhicheverLabelsAreAskedFor) {
  const std::pair<std::int64_t, std::int64_t> truth{989, 73};
  SignalPlan plan = plan_named("outcomes", {"model"}, {"error_class"});
  EXPECT_EQ(counted(kTwoModels, plan), truth);
  plan.labels.swap(plan.unused_labels);
  EXPECT_EQ(counted(kTwoModels, plan), truth) << "by error_class";
  plan.failure_labels.swap(plan.unused_failure_labels);
  EXPECT_EQ(counted(kTwoModels, plan), truth) << "in total";
  plan.labels.swap(plan.unused_labels);
  EXPECT_EQ(counted(kTwoModels, plan), truth) << "by model";
}

TEST(CsvRecording, TellsColumnsThatNobodyDeclaredByTheirRows) {
  const std::pair<std::int64_t, std::int64_t> truth{989, 73};
  EXPECT_EQ(counted(kTwoModels, plan_named("outcomes", {}, {})), truth);
  EXPECT_EQ(counted(kTwoModels, plan_named("outcomes", {"model"}, {})), truth);
  EXPECT_EQ(counted(kTwoModels, plan_named("outcomes", {}, {"error_class"})), truth);
  // Two models that happen to have as many requests.
  const std::string equal =
      "signal,start,seconds,n,k,model,error_class\n"
      "outcomes,60,60,77,71,judge,router_refusal\noutcomes,60,60,77,0,gpt-4o,\n";
  EXPECT_EQ(counted(equal, plan_named("outcomes", {}, {})), std::pair(154L, 71L));
  // A row for each class, failures or not, as other programs write it.
  const std::string dense =
      "signal,start,seconds,n,k,error_class\n"
      "outcomes,60,60,77,1,a\noutcomes,60,60,77,0,b\n"
      "outcomes,120,60,70,0,a\noutcomes,120,60,70,2,b\n";
  CsvFile file(dense, {plan_named("outcomes", {}, {})});
  const Fetch fetched = file.fetch(minutes(1, 3));
  EXPECT_EQ(fetched.batches[0].n, (std::vector<std::int64_t>{77, 70}));
  EXPECT_EQ(total(fetched.batches[0].k), 3);
}

}  // namespace
}  // namespace outcomed::testing
