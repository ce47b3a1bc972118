// Measures the errors of VectorMath.cpp on doubles, called from kernels, against exact results of MPFR, and
// checks the bounds that base/CellOperators.def states. CPUs with and without AVX-512 must give the same bits.
#include "codegen/KernelCompiler.h"
#include "codegen/MachineCode.h"
#include "codegen/target/Target.h"
#include "codegen/testing/BlockOperator.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <random>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// |value - exact| in units of the last place of the exact result; 0 if both are
// NaN or the same infinity.
double errorInUlps(double value, mpfr_t exact) {
  double rounded = mpfr_get_d(exact, MPFR_RNDN);
  if (std::isnan(rounded) || std::isnan(value))
    return std::isnan(rounded) && std::isnan(value) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(value) || rounded == 0)
    return rounded == value || (rounded == 0 && std::fabs(value) <= 0x1p-1074) ? 0 : INFINITY;
  int exponent;
  std::frexp(rounded, &exponent);
  mpfr_t difference;
  mpfr_init2(difference, 200);
  mpfr_sub_d(difference, exact, value, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, -std::max(exponent - 53, -1074), MPFR_RNDN);
  double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
  mpfr_clear(difference);
  return error;
}

using Exact = std::function<void(mpfr_t result, mpfr_t x, mpfr_t y)>;

class VectorMathTest : public ::testing::Test {
protected:
  VectorMathTest() { context.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>(); }

  std::vector<double> kernel(const std::string &operation, const std::vector<double> &x,
                             const std::vector<double> &y) {
    BlockOperator block = parseBlockOperator(
        context, "block sizes [s0, 1, s0, 1] (%x: $M, %y: $M) -> $M {\n%0 = " + operation +
                     " -> $M\nreturn %0 : $M\n}");
    int64_t count = x.size();
    auto run = [&](llvm::FailureOr<tokamak::abi::KernelPlan> plan) {
      EXPECT_TRUE(succeeded(plan));
      if (!plan->kernel)
        plan->kernel = reinterpret_cast<decltype(plan->kernel)>(codeForAnyX86->address(kernelName));
      return Launch{{{count, 1, x}, {count, 1, y}}, {}}.run(*plan)[0].cells;
    };
    std::vector<double> results = run(compiler.compile(block.op)),
                        others = run(compilerForAnyX86.compile(block.op));
    for (int64_t i = 0; i < count; ++i)
      EXPECT_TRUE(std::bit_cast<uint64_t>(results[i]) == std::bit_cast<uint64_t>(others[i]) ||
                  (std::isnan(results[i]) && std::isnan(others[i])))
          << operation << " at " << x[i] << ", " << y[i] << ": " << results[i] << " and "
          << others[i];
    return results;
  }

  double worst(const std::string &operation, const Exact &exact, const std::vector<double> &x,
               const std::vector<double> &y = {}) {
    std::vector<double> second = y.empty() ? x : y;
    std::vector<double> results = kernel(operation, x, second);
    mpfr_t a, b, result;
    mpfr_inits2(200, a, b, result, nullptr);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      mpfr_set_d(a, x[i], MPFR_RNDN);
      mpfr_set_d(b, second[i], MPFR_RNDN);
      exact(result, a, b);
      double error = errorInUlps(results[i], result);
      EXPECT_LT(error, 1e9) << operation << " at " << x[i] << ", " << second[i] << ": "
                            << results[i];
      worst = std::max(worst, error);
    }
    mpfr_clears(a, b, result, nullptr);
    return worst;
  }

  std::vector<double> uniform(double low, double high, int count = 20000) {
    std::uniform_real_distribution<double> distribution(low, high);
    std::vector<double> values;
    for (int i = 0; i < count; ++i)
      values.push_back(distribution(generator));
    return values;
  }
  // Uniformly distributed bit patterns: huge, tiny, denormal numbers, NaN.
  std::vector<double> anyBits(int count = 20000) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i)
      values.push_back(std::bit_cast<double>(generator()));
    return values;
  }
  static std::vector<double> special() {
    return {0.0,      -0.0,      1,      -1,        2,          -2,        0.5,   -0.5,   3,
            INFINITY, -INFINITY, NAN,    0x1p-1074, -0x1p-1074, 0x1p-1022, 1e308, -1e308, 709.78,
            709.79,   -708.4,    -745.1, -745.2,    -746,       22,        0x1p53};
  }
  MLIRContext context{MLIRContext::Threading::DISABLED};
  CorpusCompiler compiler;
  // Kernels that are compiled for a given target have to be linked.
  std::shared_ptr<MachineCode> codeForAnyX86;
  std::string kernelName;
  KernelCompiler compilerForAnyX86{
      {.target = canRun(x86Target()) ? &x86Target() : &hostTarget(),
       .keepObject = [this](const std::string &name, const std::string &object) {
         kernelName = name;
         codeForAnyX86 = llvm::cantFail(MachineCode::link(llvm::MemoryBufferRef(object, name)));
       }}};
  std::mt19937_64 generator{7};
};

int mpfr_sigmoid(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
  mpfr_neg(result, x, rounding);
  mpfr_exp(result, result, rounding);
  mpfr_add_ui(result, result, 1, rounding);
  return mpfr_ui_div(result, 1, result, rounding);
}

// The doubles next to multiples of pi/2, where sines and cosines nearly vanish.
std::vector<double> multiplesOfHalfPi() {
  std::vector<double> multiples;
  for (int64_t n = 1; n < 4000; ++n)
    for (double factor : {1.0, 12345.0}) {
      double near = static_cast<double>(n) * factor * M_PI_2;
      multiples.insert(multiples.end(),
                       {near, -std::nextafter(near, 0), std::nextafter(near, 1e9)});
    }
  // Of all doubles this one is nearest to a multiple of pi/2 (Muller and others, "Handbook of
  // Floating-Point Arithmetic").
  multiples.insert(multiples.end(), {0x1.6ac5b262ca1ffp+849, -0x1.6ac5b262ca1ffp+849});
  return multiples;
}

// Every function is given the points that are hard for any of them.
TEST_F(VectorMathTest, functionsAreAsExactAsTheirTableSays) {
  std::vector<double> points = special();
  auto add = [&](const std::vector<double> &more) {
    points.insert(points.end(), more.begin(), more.end());
  };
  constexpr std::pair<double, double> ranges[] = {
      {-1, 1},      {-0.1, 0.1},  {-1e-6, 1e-6}, {0.49, 0.51},  {0.5, 2},
      {0.99, 1.01}, {0.999, 1},   {-1, -0.999},  {-3, 3},       {-10, 10},
      {-25, 25},    {19.9, 20.1}, {-708, 709.7}, {700, 712},    {-746, -700},
      {0, 1e-307},  {-1e6, 1e6},  {-3e8, 3e8},   {-1e15, 1e15}, {-1e300, 1e300}};
  for (auto [low, high] : ranges)
    add(uniform(low, high, 5000));
  add(multiplesOfHalfPi());
  add(anyBits());
  auto error = [&](const std::string &name, auto function) {
    double result = worst(
        "tok.unary " + name + " %x : tensor<?x?xf64>",
        [&](mpfr_t result, mpfr_t x, mpfr_t) { function(result, x, MPFR_RNDN); }, points);
    RecordProperty(name, std::to_string(result));
    return result;
  };
#define TOKAMAK_FUNCTION(Name, mnemonic, function, FLOPS, INSTRUCTIONS, ULPS, ...)                 \
  EXPECT_LE(error(#mnemonic, mpfr_##mnemonic), ULPS) << #mnemonic;
#include "base/CellOperators.def"
}

// Zeros keep their signs where the function is odd.
TEST_F(VectorMathTest, OddFunctionsOfZeros) {
  for (std::string name : {"sin", "tan", "asin", "atan", "sinh", "tanh", "erf"}) {
    std::vector<double> zeros =
        kernel("tok.unary " + name + " %x : tensor<?x?xf64>", {0.0, -0.0}, {0.0, -0.0});
    EXPECT_TRUE(zeros[0] == 0 && !std::signbit(zeros[0])) << name;
    EXPECT_TRUE(zeros[1] == 0 && std::signbit(zeros[1])) << name;
  }
}

TEST_F(VectorMathTest, Pow) {
  auto exact = [](mpfr_t result, mpfr_t x, mpfr_t y) { mpfr_pow(result, x, y, MPFR_RNDN); };
  auto error = [&](const std::vector<double> &x, const std::vector<double> &y) {
    return worst("tok.binary pow %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>)", exact, x, y);
  };
  std::vector<double> x, y, integers, small;
  for (double a : special())
    for (double b : special()) {
      x.push_back(a);
      y.push_back(b);
    }
  for (int base = -30; base <= 30; ++base)
    for (int exponent = -12; exponent <= 12; ++exponent) {
      integers.push_back(base);
      small.push_back(exponent);
    }
  double result = std::max(
      {error(uniform(0, 10), uniform(-10, 10)), error(uniform(0.9, 1.1), uniform(-6000, 6000)),
       error(uniform(0, 1e-300), uniform(-1, 1)), error(anyBits(), anyBits()), error(x, y)});
  RecordProperty("pow", std::to_string(result));
  EXPECT_LE(result, 1.0);
  // Integer powers of integers are exact if the result is below 2^53.
  std::vector<double> powers =
      kernel("tok.binary pow %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>)", integers, small);
  for (size_t i = 0; i < powers.size(); ++i)
    if (small[i] >= 0 && std::fabs(std::pow(integers[i], small[i])) < 0x1p53)
      EXPECT_EQ(powers[i], std::pow(integers[i], small[i])) << integers[i] << "^" << small[i];
}

TEST_F(VectorMathTest, ModEqualsTheScalarFunction) {
  std::vector<double> x = anyBits(), y = anyBits(), near = uniform(-1e6, 1e6);
  for (size_t i = 0; i < near.size(); ++i) {
    x.push_back(y[i] * near[i]); // quotients that are near whole numbers
    y.push_back(y[i]);
  }
  std::vector<double> results =
      kernel("tok.binary mod %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>)", x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = evaluate(BinaryOperator::Mod, x[i], y[i]);
    EXPECT_TRUE(std::bit_cast<uint64_t>(results[i]) == std::bit_cast<uint64_t>(expected) ||
                (std::isnan(results[i]) && std::isnan(expected)))
        << x[i] << " %% " << y[i] << ": " << results[i] << " instead of " << expected;
  }
}

} // namespace
