// What a chosen plan is said to be, as text and as the facts of a page.
#include "fusion/select/PlanDescription.h"

#include "fusion/select/FusedBlock.h"
#include "fusion/select/FusionFacts.h"

#include <nlohmann/json.hpp>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

constexpr const char *twoReaders = R"(
  %0 = tok.unary exp %X : !m -> !m
  %1 = tok.binary mul %0, %X : (!m, !m) -> !m
  %2 = tok.aggregate sum column %1 : !m -> !m
  %3 = tok.binary add %2, %0 : (!m, !m) -> !m
  return %3 : !m)";

// Plans the block, lets `change` edit the plan, and calls `look` with it before the block is rewritten.
template <typename Change, typename Look>
void describe(FusedBlock &block, Change change, Look look) {
  auto [graph, memo, pool] = Candidates(block);
  Plan plan = searchPlan(pool);
  change(plan);
  buildOperators(pool, plan.operators,
                 [&](llvm::ArrayRef<BuiltOperator> built) { look(pool, plan, built); });
}

} // namespace

TEST(PlanDescription, savingsAreThoseOfSeparateOperators) {
  FusedBlock block("X:mxn", "!m", twoReaders);
  auto look = [&](const OperatorPool &pool, const Plan &plan, llvm::ArrayRef<BuiltOperator> built) {
    PlanDescription words(pool, plan, built);
    FusedBlock separate("X:mxn", "!m", twoReaders);
    separate.fuse(Selector::None);
    double sum = 0;
    for (plan::OperatorOp op : separate.function().getOps<plan::OperatorOp>())
      sum += op->getAttrOfType<mlir::FloatAttr>("predicted_ns").getValueAsDouble();
    EXPECT_NEAR(words.separateNanoseconds(), sum, 1e-6 * sum);
    EXPECT_LT(words.nanoseconds(), words.separateNanoseconds());
    EXPECT_NE(words.summary().front().find("so that fusion saves"), std::string::npos)
        << words.summary().front();
  };
  describe(block, [](Plan &) {}, look);
}

TEST(PlanDescription, theRunnerUpOfThePartitionThatLosesLeastIsNamed) {
  FusedBlock block("X:mxn", "!m", twoReaders);
  std::vector<std::string> summary;
  auto change = [](Plan &plan) {
    ASSERT_FALSE(plan.partitions.empty());
    plan.partitions.push_back(plan.partitions.front());
    plan.partitions.front().runnerUp = plan.partitions.front().nanoseconds + 9000;
    plan.partitions.back().runnerUp = plan.partitions.back().nanoseconds + 2500;
  };
  describe(block, change, [&](const OperatorPool &pool, const Plan &plan, auto built) {
    summary = PlanDescription(pool, plan, built).summary();
  });
  EXPECT_NE(summary.back().find("the second-best plan would take 2.50 us more ("),
            std::string::npos)
      << summary.back();
}

TEST(PlanDescription, onePlanOnlyHasNoRunnerUp) {
  FusedBlock block("X:mxn", "f64", R"(
    %0 = tok.unary exp %X : !m -> !m
    %1 = tok.aggregate sum full %0 : !m -> f64
    return %1 : f64)");
  std::vector<std::string> summary;
  describe(
      block, [](Plan &) {},
      [&](const OperatorPool &pool, const Plan &plan, auto built) {
        summary = PlanDescription(pool, plan, built).summary();
      });
  EXPECT_NE(summary.back().find("there is one plan only"), std::string::npos) << summary.back();
}

TEST(FusionFacts, holdEveryOperationAndNumberTheOperators) {
  FusedBlock block("X:mxn", "!m", twoReaders);
  nlohmann::json facts;
  std::vector<int64_t> numbers;
  describe(
      block, [](Plan &) {},
      [&](const OperatorPool &pool, const Plan &plan, auto built) {
        facts = nlohmann::json::parse(fusionFacts("block_7", pool, plan, built));
        for (const BuiltOperator &each : built)
          numbers.push_back(
              each.operation->getAttrOfType<mlir::IntegerAttr>(operatorNumberAttributeName)
                  .getInt());
      });
  EXPECT_EQ(facts["block"], "block_7");
  ASSERT_EQ(facts["operations"].size(), 4u);
  ASSERT_EQ(facts["operators"].size(), numbers.size());
  std::set<int> computed;
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], int64_t(i));
    EXPECT_EQ(facts["operators"][i]["number"], i);
    EXPECT_GT(facts["operators"][i]["predicted_ns"], 0);
    EXPECT_GT(facts["operators"][i]["separate_ns"], 0);
    for (int member : facts["operators"][i]["members"])
      computed.insert(member);
  }
  EXPECT_EQ(computed.size(), 4u) << "every operation is a member of an operator";
  const nlohmann::json &product = facts["operations"][1];
  EXPECT_EQ(product["kind"], "elementwise");
  EXPECT_EQ(product["operands"][0]["operation"], facts["operations"][0]["index"]);
  EXPECT_EQ(product["operands"][1]["value"], "X");
  EXPECT_EQ(product["operands"][1]["size"], "~1000000x~10");
  EXPECT_FALSE(product["ways"].empty());
  std::string refusals = facts["operations"][2]["refusals"].dump();
  EXPECT_NE(refusals.find("only after the last row"), std::string::npos) << refusals;
  EXPECT_TRUE(facts["operations"][0].contains("outcome")) << "a result with two readers";
}

TEST(FusionFacts, leaveLiteralsToTheirReaders) {
  FusedBlock block("X:mxn", "!m", R"(
    %two = tok.constant 2.0 : f64
    %0 = tok.binary mul %X, %two : (!m, f64) -> !m
    return %0 : !m)");
  nlohmann::json facts;
  describe(
      block, [](Plan &) {},
      [&](const OperatorPool &pool, const Plan &plan, auto built) {
        facts = nlohmann::json::parse(fusionFacts("block", pool, plan, built));
      });
  ASSERT_EQ(facts["operations"].size(), 1u);
  EXPECT_EQ(facts["operations"][0]["text"], "X * 2");
  EXPECT_EQ(facts["operations"][0]["operands"].size(), 1u);
}
