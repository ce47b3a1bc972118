// Measures the errors of VectorMath.cpp on floats, linked into code as kernels link it, against
// exact results of MPFR, and checks the bounds that base/CellOperators.def states. Functions on
// eight and on sixteen floats must give the same bits, and so must those for CPUs without AVX-512.
#include "codegen/CodeEmitter.h"
#include "codegen/LlvmLowering.h"
#include "codegen/MachineCode.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <functional>
#include <map>
#include <random>

using namespace tokamak::codegen;

namespace {

using Floats = std::vector<float>;
using Exact = std::function<void(mpfr_t result, mpfr_t x, mpfr_t y)>;

// The calls that %F stands for read one or two vectors of %N floats.
constexpr const char *loop = R"(
declare <%N x float> @%F(<%N x float>%M)
define void @run(ptr %x, ptr %y, ptr %result, i64 %count) {
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %end
body:
  %xAddress = getelementptr float, ptr %x, i64 %i
  %yAddress = getelementptr float, ptr %y, i64 %i
  %resultAddress = getelementptr float, ptr %result, i64 %i
  %a = load <%N x float>, ptr %xAddress, align 4
  %b = load <%N x float>, ptr %yAddress, align 4
  %c = call <%N x float> @%F(<%N x float> %a%B)
  store <%N x float> %c, ptr %resultAddress, align 4
  %next = add i64 %i, %N
  br label %head
end:
  ret void
})";

std::string replaced(std::string text, const std::string &name, const std::string &value) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

class SinglePrecisionMathTest : public ::testing::Test {
protected:
  using Run = void(const float *x, const float *y, float *result, int64_t count);

  // The function on vectors of `lanes` floats, in a loop.
  Run *compiled(const std::string &name, int lanes, const std::unique_ptr<CodeEmitter> &emitter) {
    std::string function = "tokamak_vector_" + name + "_f32x" + std::to_string(lanes);
    std::shared_ptr<MachineCode> &code = codes[{function, &emitter}];
    if (!code) {
      std::string type = "<" + std::to_string(lanes) + " x float>";
      std::string text = replaced(loop, "%M", name == "pow" ? ", " + type : "");
      text = replaced(text, "%B", name == "pow" ? ", " + type + " %b" : "");
      text = replaced(replaced(text, "%F", function), "%N", std::to_string(lanes));
      llvm::LLVMContext context;
      llvm::SMDiagnostic diagnostic;
      auto module = llvm::parseIR(llvm::MemoryBufferRef(text, name), diagnostic, context);
      EXPECT_TRUE(module) << diagnostic.getMessage().str();
      module->setDataLayout(emitter->machine().createDataLayout());
      module->setTargetTriple(emitter->machine().getTargetTriple().str());
      llvm::cantFail(optimize(*module, emitter->machine()));
      code = llvm::cantFail(MachineCode::link(emitter->emitObject(*module)->getMemBufferRef()));
    }
    return reinterpret_cast<Run *>(code->address("run"));
  }

  // The results, the same for vectors of eight and of sixteen, with AVX-512 and without.
  Floats call(const std::string &name, Floats x, Floats y) {
    size_t count = x.size();
    x.resize((count + 15) / 16 * 16);
    y.resize(x.size());
    Floats eight(x.size()), other(x.size());
    compiled(name, 8, forHost)(x.data(), y.data(), eight.data(), x.size());
    for (auto [lanes, emitter] : {std::pair(16, &forHost), {8, &forAnyX86}, {16, &forAnyX86}}) {
      compiled(name, lanes, *emitter)(x.data(), y.data(), other.data(), x.size());
      for (size_t i = 0; i < count; ++i)
        EXPECT_TRUE(std::bit_cast<uint32_t>(eight[i]) == std::bit_cast<uint32_t>(other[i]) ||
                    (std::isnan(eight[i]) && std::isnan(other[i])))
            << name << " at " << x[i] << ", " << y[i] << ": " << eight[i] << " and " << other[i];
    }
    eight.resize(count);
    return eight;
  }

  // |value - exact| in units of the last place of the exact result; infinite if only one of them
  // is NaN or infinite, or zeros differ in sign.
  static double errorInUlps(float value, mpfr_t exact) {
    float rounded = mpfr_get_flt(exact, MPFR_RNDN);
    if (std::isnan(rounded) || std::isnan(value))
      return std::isnan(rounded) && std::isnan(value) ? 0 : INFINITY;
    if (std::isinf(rounded) || std::isinf(value))
      return rounded == value ? 0 : INFINITY;
    if (value == 0 && rounded == 0 && std::signbit(value) != std::signbit(rounded))
      return INFINITY;
    int exponent = -149;
    if (rounded != 0)
      std::frexp(rounded, &exponent);
    mpfr_t difference;
    mpfr_init2(difference, 120);
    mpfr_sub_d(difference, exact, value, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, -std::max(exponent - 24, -149), MPFR_RNDN);
    double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
  }

  double worst(const std::string &name, const Exact &exact, const Floats &x, const Floats &y = {}) {
    const Floats &second = y.empty() ? x : y;
    Floats results = call(name, x, second);
    mpfr_t a, b, result;
    mpfr_inits2(120, a, b, result, nullptr);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      mpfr_set_flt(a, x[i], MPFR_RNDN);
      mpfr_set_flt(b, second[i], MPFR_RNDN);
      exact(result, a, b);
      double error = errorInUlps(results[i], result);
      EXPECT_LT(error, 1e9) << name << " at " << x[i] << ", " << second[i] << ": " << results[i];
      worst = std::max(worst, error);
    }
    mpfr_clears(a, b, result, nullptr);
    return worst;
  }

  Floats uniform(float low, float high, int count = 20000) {
    std::uniform_real_distribution<float> distribution(low, high);
    Floats values;
    for (int i = 0; i < count; ++i)
      values.push_back(distribution(generator));
    return values;
  }
  // Uniformly distributed bit patterns: huge, tiny, denormal numbers, NaN.
  Floats anyBits(int count) {
    Floats values;
    for (int i = 0; i < count; ++i)
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(generator())));
    return values;
  }
  // The ends and random numbers of every exponent, with both signs.
  Floats everyExponent() {
    Floats values;
    for (uint32_t exponent = 0; exponent < 512; ++exponent)
      for (int i = 0; i < 42; ++i) {
        auto mantissa = static_cast<uint32_t>(generator()) & 0x7fffff;
        mantissa = i == 0 ? 0 : i == 1 ? 0x7fffff : mantissa;
        values.push_back(std::bit_cast<float>(exponent << 23 | mantissa));
      }
    return values;
  }
  // The neighbours of points where an algorithm or the kind of the result changes.
  static Floats near(const Floats &points) {
    Floats values;
    for (float point : points)
      for (int i = -40; i <= 40; ++i) {
        float value = std::bit_cast<float>(std::bit_cast<uint32_t>(point) + i);
        values.insert(values.end(), {value, -value});
      }
    return values;
  }
  static Floats special() {
    return {0.0f,
            -0.0f,
            1,
            -1,
            2,
            -2,
            0.5f,
            -0.5f,
            3,
            INFINITY,
            -INFINITY,
            NAN,
            -NAN,
            0x1p-149f,
            -0x1p-149f,
            0x1p-126f,
            FLT_MAX,
            -FLT_MAX,
            0x1p24f,
            -7,
            0x1.fffffep-1f,
            127,
            128,
            -149,
            -150,
            8388609.5f,
            -0.75f,
            0x1.000002p0f,
            -126,
            88.7f,
            9.0f,
            -1e-40f,
            0x1.fffp-127f};
  }

  std::unique_ptr<CodeEmitter> forHost = llvm::cantFail(CodeEmitter::create(hostTarget())),
                               forAnyX86 = llvm::cantFail(CodeEmitter::create(
                                   canRun(x86Target()) ? x86Target() : hostTarget()));
  std::map<std::pair<std::string, const void *>, std::shared_ptr<MachineCode>> codes;
  std::mt19937_64 generator{7};
};

int mpfr_sigmoid(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
  mpfr_neg(result, x, rounding);
  mpfr_exp(result, result, rounding);
  mpfr_add_ui(result, result, 1, rounding);
  return mpfr_ui_div(result, 1, result, rounding);
}

// The floats next to multiples of pi/2, where sines and cosines nearly vanish.
Floats multiplesOfHalfPi() {
  Floats multiples;
  for (int n = 1; n < 4000; ++n)
    for (double factor : {1.0, 20.0, 12345.0}) {
      auto near = static_cast<float>(n * factor * M_PI_2);
      multiples.insert(multiples.end(),
                       {near, -std::nextafter(near, 0.0f), std::nextafter(near, 1e9f)});
    }
  return multiples;
}

// Every function is given the points that are hard for any of them.
TEST_F(SinglePrecisionMathTest, functionsAreAsExactAsTheirTableSays) {
  Floats points = special();
  auto add = [&](const Floats &more) { points.insert(points.end(), more.begin(), more.end()); };
  constexpr std::pair<float, float> ranges[] = {
      {-1, 1},        {-0.1f, 0.1f}, {-1e-3f, 1e-3f}, {0.49f, 0.7f},  {0.5f, 2},
      {0.99f, 1.01f}, {0.999f, 1},   {-1, -0.999f},   {-3, 3},        {-10, 10},
      {-20, 20},      {-90, 90},     {-87, 88.7f},    {-104, -20},    {0, 0x1p-124f},
      {-1e3f, 1e3f},  {-2e5f, 2e5f}, {-1e9f, 1e9f},   {-3e38f, 3e38f}};
  for (auto [low, high] : ranges)
    add(uniform(low, high, 6000));
  add(near({0.34657359f, 0.5f,       0.5625f,   2.0f / 3,   0.70710678f, 0.78539816f, 1,
            4.0f / 3,    8.0f / 3,   9.010914f, 10,         16.635532f,  87.33655f,   88.72284f,
            89,          89.415985f, 90,        103.97208f, 104,         0x1p17f,     0x1p-126f}));
  add(multiplesOfHalfPi());
  add(everyExponent());
  auto error = [&](const std::string &name, auto function) {
    double result = worst(
        name, [&](mpfr_t result, mpfr_t x, mpfr_t) { function(result, x, MPFR_RNDN); }, points);
    RecordProperty(name, std::to_string(result));
    return result;
  };
#define TOKAMAK_FUNCTION(Name, mnemonic, function, FLOPS, INSTRUCTIONS, ULPS, SINGLE_ULPS, ...)    \
  EXPECT_LE(error(#mnemonic, mpfr_##mnemonic), SINGLE_ULPS) << #mnemonic;
#include "base/CellOperators.def"
}

// Facts about ranges and zeros that the compiler concludes from (base/SparseSafety.cpp).
TEST_F(SinglePrecisionMathTest, ExactResultsAndRanges) {
  for (const char *name : {"sin", "tan", "asin", "atan", "sinh", "tanh", "erf"})
    EXPECT_EQ(call(name, {0.0f}, {0.0f})[0], 0) << name;
  for (const char *name : {"exp", "cos", "cosh"})
    EXPECT_EQ(call(name, {0.0f}, {0.0f})[0], 1) << name;
  EXPECT_EQ(call("sigmoid", {0.0f}, {0.0f})[0], 0.5f);
  EXPECT_EQ(call("log", {1.0f}, {1.0f})[0], 0);
  EXPECT_EQ(call("acos", {0.0f}, {0.0f})[0], static_cast<float>(M_PI_2));
  for (const char *name : {"sin", "cos", "tanh", "sigmoid"})
    for (float value : call(name, everyExponent(), everyExponent()))
      EXPECT_FALSE(std::fabs(value) > 1) << name;
}

TEST_F(SinglePrecisionMathTest, Pow) {
  auto exact = [](mpfr_t result, mpfr_t x, mpfr_t y) { mpfr_pow(result, x, y, MPFR_RNDN); };
  auto error = [&](const Floats &x, const Floats &y) { return worst("pow", exact, x, y); };
  Floats x, y, bases, exponents;
  for (float a : special())
    for (float b : special()) {
      x.push_back(a);
      y.push_back(b);
    }
  for (int base = -40; base <= 40; ++base)
    for (int exponent = -24; exponent <= 24; ++exponent) {
      bases.push_back(base);
      exponents.push_back(exponent);
    }
  double result = std::max(
      {error(uniform(0, 10), uniform(-10, 10)), error(uniform(0.9f, 1.1f), uniform(-900, 900)),
       error(uniform(0, 0x1p-125f), uniform(-1, 1.2f)), error(anyBits(20000), anyBits(20000)),
       error(anyBits(20000), uniform(-3, 3)), error(bases, exponents), error(x, y)});
  RecordProperty("pow", std::to_string(result));
  EXPECT_LE(result, 0.6);
  // Whole powers of whole numbers are exact if the result is below 2^24. x^2 is x*x to the bit.
  Floats powers = call("pow", bases, exponents);
  for (size_t i = 0; i < powers.size(); ++i)
    if (double power = std::pow(bases[i], exponents[i]);
        exponents[i] >= 0 && std::fabs(power) < 0x1p24)
      EXPECT_EQ(powers[i], power) << bases[i] << "^" << exponents[i];
  Floats bits = anyBits(20000), squares = call("pow", bits, Floats(bits.size(), 2.0f));
  Floats mixed = call("pow", {1.1f, 1.3f, 5.7f}, {2, 3, 2});
  for (size_t i = 0; i < bits.size(); ++i)
    EXPECT_TRUE(squares[i] == bits[i] * bits[i] || std::isnan(bits[i])) << bits[i];
  EXPECT_EQ(mixed[0], 1.1f * 1.1f);
  EXPECT_EQ(mixed[2], 5.7f * 5.7f);
}

} // namespace
