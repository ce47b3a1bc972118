// Kernels that are compiled on several threads at the same time are those that one thread makes.
#include "codegen/testing/KernelCompilerFixture.h"

#include <map>
#include <mutex>

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

using SeveralKernelsTest = KernelCompilerFixture;

std::string chainOf(StringRef op) {
  return "block sizes [s0, s1, s0, s1] (%x: $M, %y: $M) -> f64 {\n%0 = tok.unary " + op.str() +
         " %x : $M -> $M\n%1 = tok.binary mul %0, %y : ($M, $M) -> $M\n"
         "%2 = tok.aggregate sum full %1 : $M -> f64\nreturn %2 : f64\n}";
}

TEST_F(SeveralKernelsTest, ThreadsMakeTheSameKernels) {
  // Equal operators among them: one waits for the other.
  std::vector<plan::OperatorOp> operators;
  for (const char *op : {"exp", "abs", "exp", "log", "sqrt", "abs", "tanh", "neg"})
    operators.push_back(parse(chainOf(op)));
  std::map<std::string, std::string> expected;
  for (int threads : {1, 2, 4}) {
    std::mutex mutex;
    std::map<std::string, std::string> objects;
    KernelCompilerOptions options{.threads = threads};
    options.keepObject = [&](const std::string &kernel, const std::string &object) {
      std::lock_guard lock(mutex);
      objects[kernel] = object;
    };
    KernelCompiler threaded(options);
    KernelCompiler::Plans plans = threaded.compile(operators);
    std::vector<std::string> names;
    for (const auto &plan : plans) {
      ASSERT_TRUE(succeeded(plan));
      EXPECT_TRUE(plan->kernel && plan->merge);
      names.push_back(plan->name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"cell_exp_mul_sum_1", "cell_abs_mul_sum_2",
                                               "cell_exp_mul_sum_1", "cell_log_mul_sum_3",
                                               "cell_sqrt_mul_sum_4", "cell_abs_mul_sum_2",
                                               "cell_tanh_mul_sum_5", "cell_neg_mul_sum_6"}));
    EXPECT_EQ(threaded.statistics().compiled, 6);
    EXPECT_EQ(threaded.statistics().cacheHits, 2);
    if (threads == 1)
      expected = objects;
    EXPECT_EQ(objects, expected) << threads << " threads";
  }
}

TEST_F(SeveralKernelsTest, TheFirstErrorIsReported) {
  std::string wrong =
      R"(plan.operator (%x = %a sparse [s0, s1]) axes [s0, s1] -> [s0, s1] : ($M) -> $M {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : $M -> !plan.cell<(d0, d1) -> f64>
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f64>
  })";
  std::vector<plan::OperatorOp> operators = {parse(chainOf("exp")), parsePlan("%r = " + wrong),
                                             parsePlan("%q = " + wrong), parse(chainOf("log"))};
  for (plan::OperatorOp op : operators)
    ASSERT_TRUE(op);
  for (int threads : {1, 3}) {
    int reported = 0;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      EXPECT_NE(diagnostic.str().find("at the entries of a driver only"), std::string::npos);
      ++reported;
      return success();
    });
    KernelCompiler threaded({.threads = threads});
    KernelCompiler::Plans plans = threaded.compile(operators);
    EXPECT_TRUE(succeeded(plans[0]));
    EXPECT_TRUE(failed(plans[1]) && failed(plans[2]) && failed(plans[3]));
    EXPECT_EQ(reported, 1) << threads << " threads";
  }
}

} // namespace
