// cdf and icdf, to which pnorm, qchisq and the like are translated.
#include "runtime/natives/Distributions.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <cmath>

namespace tokamak::runtime {
namespace {

using Kind = Distribution::Kind;

// The operands: distribution, target, mean, sd, df, df1, df2, rate, lower.tail; those that a
// distribution does not need may be absent.
enum Operand {
  Name,
  Target,
  Mean,
  StandardDeviation,
  Degrees,
  Degrees1,
  Degrees2,
  Rate,
  LowerTail
};

Kind kindOf(const std::string &name, std::string_view native) {
  if (name == "normal")
    return Kind::Normal;
  if (name == "exp")
    return Kind::Exponential;
  if (name == "chisq")
    return Kind::ChiSquared;
  if (name == "f")
    return Kind::F;
  if (name == "t")
    return Kind::T;
  throw Error(fmt::format("{}: unknown distribution \"{}\": expected normal, exp, chisq, f or t",
                          native, name));
}

Distribution distributionOf(std::span<const Value> operands, std::string_view native) {
  const std::string &name = textOperand(operands[Name], native, "dist");
  auto positive = [&](Operand operand, std::string_view parameter, bool mayBeInfinite = false) {
    if (operands[operand].isNothing())
      throw Error(fmt::format("{}: the distribution \"{}\" needs {}", native, name, parameter));
    double value = operands[operand].asDouble();
    if (!(value > 0 && (mayBeInfinite || std::isfinite(value))))
      throw Error(fmt::format("{}: {} must be positive{}, got {}", native, parameter,
                              mayBeInfinite ? "" : " and finite", textOf(value)));
    return value;
  };
  switch (kindOf(name, native)) {
  case Kind::Normal:
    return {Kind::Normal, operands[Mean].isNothing() ? 0 : operands[Mean].asDouble(),
            operands[StandardDeviation].isNothing() ? 1 : positive(StandardDeviation, "sd")};
  case Kind::Exponential:
    return {Kind::Exponential, operands[Rate].isNothing() ? 1 : positive(Rate, "rate"), 0};
  case Kind::ChiSquared:
    return {Kind::ChiSquared, positive(Degrees, "df"), 0};
  case Kind::F:
    return {Kind::F, positive(Degrees1, "df1"), positive(Degrees2, "df2")};
  case Kind::T:
    return {Kind::T, positive(Degrees, "df", /*mayBeInfinite=*/true), 0};
  }
  return {};
}

bool isLowerTail(std::span<const Value> operands) {
  return operands[LowerTail].isNothing() || operands[LowerTail].asBoolean();
}

} // namespace

void runCdf(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  Tails tails = tailsOf(distributionOf(operands, "cdf"), operands[Target].asDouble());
  results[0] = isLowerTail(operands) ? tails.lower : tails.upper;
}

void runIcdf(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  Distribution distribution = distributionOf(operands, "icdf");
  double probability = operands[Target].asDouble();
  if (probability < 0 || probability > 1)
    throw Error(fmt::format("icdf: {} is not a probability", textOf(probability)));
  Tails tails{probability, 1 - probability};
  if (!isLowerTail(operands))
    std::swap(tails.lower, tails.upper);
  results[0] = quantileOf(distribution, tails);
}

} // namespace tokamak::runtime
