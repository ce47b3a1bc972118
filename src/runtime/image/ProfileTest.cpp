#include "runtime/image/Profile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

using namespace tokamak;
using namespace tokamak::runtime;

TEST(Profile, SumsStepsByOperatorAndPlace) {
  Profile profile(Profile::Events::Dropped);
  SourcePlace first{"a.dml", 1, 5}, second{"a.dml", 2, 5};
  Value array = Array::filled({10, 10}, 1.0);
  Value values[] = {array, Value(2.0), array};
  const Prediction prediction{100, 60, 2, 0.8, Limit::Computing};
  for (int i = 0; i < 3; ++i) {
    ProfiledStep step(&profile, StepKind::Kernel, "cell_mul_1", first, &prediction);
    step.reads(values);
  }
  {
    ProfiledStep step(&profile, StepKind::Kernel, "cell_mul_1", second);
  }
  {
    ProfiledStep step(nullptr, StepKind::Kernel, "cell_mul_1", second);
  }
  std::vector<OperatorProfile> operators = profile.operators();
  ASSERT_EQ(operators.size(), 2u);
  const OperatorProfile &op = operators[operators[0].place.line == 1 ? 0 : 1];
  EXPECT_EQ(op.calls, 3);
  EXPECT_EQ(op.bytes, 3 * 800) << "an operand that is there twice is read once";
  EXPECT_EQ(op.predictedNanoseconds, 300);
  EXPECT_EQ(op.atPeakNanoseconds, 240);
  EXPECT_EQ(op.limit, Limit::Computing);
  EXPECT_GE(operators[0].nanoseconds, operators[1].nanoseconds);
}

TEST(Profile, PredictsForTheArraysOfTheStep) {
  Profile profile(Profile::Events::Dropped);
  SourcePlace place{"a.dml", 1, 5};
  Prediction prediction{1000, 600, 2};
  prediction.bytes = 8000;
  for (int i = 0; i < static_cast<int>(prediction.ofOtherSizes.size()); ++i)
    prediction.ofOtherSizes[i] = {100.0 * (i + 1), 60.0 * (i + 1)};
  Value values[] = {Array::filled({10, 100}, 1.0)}; // as planned
  {
    ProfiledStep step(&profile, StepKind::Kernel, "as planned", place, &prediction);
    step.reads(values);
  }
  values[0] = Array::filled({10, 400}, 1.0);
  {
    ProfiledStep step(&profile, StepKind::Kernel, "larger", place, &prediction, /*threads=*/2);
    step.reads(values);
  }
  double one = 1;
  values[0] = Array::repeated({10, 400}, ElementType::F64, one);
  {
    ProfiledStep step(&profile, StepKind::Kernel, "one number", place, &prediction, /*threads=*/2);
    step.reads(values);
  }
  values[0] = Array::filled({1, 1}, 1.0);
  {
    ProfiledStep step(&profile, StepKind::Kernel, "smaller", place, &prediction);
    step.reads(values);
  }
  std::map<std::string, double> predicted;
  for (const OperatorProfile &op : profile.operators())
    predicted[op.name] = op.predictedNanoseconds;
  int planned = Prediction::stepsDown + 1;
  EXPECT_NEAR(predicted["as planned"], 100 * planned, 1e-6);
  EXPECT_NEAR(predicted["larger"], 60 * (planned + 1), 1e-6);
  EXPECT_EQ(predicted["one number"], predicted["larger"]) << "it is computed with like any other";
  EXPECT_GT(predicted["smaller"], 100 * (planned - 5));
  EXPECT_LT(predicted["smaller"], 100 * (planned - 4));
}

TEST(Profile, TraceIsJsonWithAnEventForEveryStep) {
  Profile profile(Profile::Events::Kept);
  SourcePlace place{"odd \"name\".dml", 1, 5};
  {
    ProfiledStep step(&profile, StepKind::Native, "solve", place);
  }
  std::thread([&] { ProfiledStep step(&profile, StepKind::Kernel, "row_1", place); }).join();
  std::ostringstream out;
  profile.writeTrace(out);
  auto trace = nlohmann::json::parse(out.str());
  int complete = 0;
  for (const auto &event : trace["traceEvents"])
    if (event["ph"] == "X") {
      ++complete;
      EXPECT_GE(event["dur"].get<double>(), 0);
      EXPECT_EQ(event["args"]["place"], "odd \"name\".dml:1:5");
    }
  EXPECT_EQ(complete, 2);
}

TEST(Profile, TheFirstCallIsNotTypical) {
  using namespace std::chrono_literals;
  Profile profile(Profile::Events::Dropped);
  SourcePlace place{"a.dml", 1, 5};
  auto record = [&](std::string_view name,
                    std::initializer_list<std::chrono::nanoseconds> durations) {
    std::chrono::steady_clock::time_point begin{};
    for (std::chrono::nanoseconds duration : durations)
      profile.record({StepKind::Kernel, name, &place, begin, begin + duration, 0, 100});
  };
  record("often", {9ms, 300ns, 200ns, 100ns});
  record("once, short", {900us});
  record("once, long", {2ms});
  std::map<std::string, OperatorProfile> byName;
  for (const OperatorProfile &op : profile.operators())
    byName[op.name] = op;
  EXPECT_EQ(byName["often"].typicalNanoseconds, 200);
  EXPECT_EQ(byName["often"].predictedOfTypical, 100);
  EXPECT_DOUBLE_EQ(byName["often"].predictionError(), 0.5);
  EXPECT_FALSE(byName["once, short"].hasPredictionError());
  EXPECT_EQ(byName["once, long"].typicalNanoseconds, 2'000'000);
}

TEST(Profile, CallsAfterCompilingAreNotTypical) {
  using namespace std::chrono_literals;
  Profile profile(Profile::Events::Dropped);
  SourcePlace place{"a.dml", 1, 5};
  auto record = [&](StepKind kind, std::string_view name, std::chrono::nanoseconds duration) {
    std::chrono::steady_clock::time_point begin{};
    profile.record({kind, name, &place, begin, begin + duration});
  };
  auto typical = [&] {
    for (const OperatorProfile &op : profile.operators())
      if (op.name == "op")
        return op.typicalNanoseconds;
    return int64_t{-1};
  };
  record(StepKind::Kernel, "op", 5us);
  record(StepKind::Compilation, "block", 1ms);
  record(StepKind::Kernel, "op", 4us);
  EXPECT_EQ(typical(), 0) << "each call had to load code";
  record(StepKind::Kernel, "op", 2us);
  record(StepKind::Compilation, "block", 1ms);
  record(StepKind::Kernel, "op", 3us);
  EXPECT_EQ(typical(), 2000);
}

TEST(Profile, OperatorsMayComeToTheSameAddress) {
  Profile profile(Profile::Events::Dropped);
  SourcePlace place{"a.dml", 1, 5};
  char name[] = "first";
  for (const char *of : {"first", "other", "first"}) {
    std::copy_n(of, 5, name);
    ProfiledStep step(&profile, StepKind::Kernel, name, place);
  }
  std::map<std::string, int64_t> calls;
  for (const OperatorProfile &op : profile.operators())
    calls[op.name] = op.calls;
  EXPECT_EQ(calls, (std::map<std::string, int64_t>{{"first", 2}, {"other", 1}}));
}
