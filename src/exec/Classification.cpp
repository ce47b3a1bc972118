#include "exec/Classification.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::PlanConditions;
using runtime::Value;

static constexpr int64_t costRange = PlanConditions::costRange;

// A range of a factor of costRange on either side of the size; fixed: between
// two powers of costRange.
static Size::Range sizeRange(int64_t size, bool fixed) {
  constexpr int64_t largest = INT64_MAX / costRange;
  if (!fixed)
    return {(size + costRange - 1) / costRange, size > largest ? INT64_MAX : size * costRange};
  int64_t low = 1;
  while (low <= largest && low * costRange <= size)
    low *= costRange;
  return {low, low > largest ? INT64_MAX : low * costRange - 1};
}

static PlanConditions::Density densityRange(double density, bool fixed) {
  constexpr double factor = costRange;
  if (!fixed)
    return {density / factor, density * factor, density};
  constexpr double least = 1e-12; // empty matrices share the range of nearly empty ones
  double high = 1;
  while (high > least && density <= high / factor)
    high /= factor;
  double low = high <= least ? 0 : std::nextafter(high / factor, 1);
  return {low, high, std::sqrt(low * high)};
}

std::string Classification::key() const {
  using Kind = PlanConditions::Input::Kind;
  std::string key = fmt::format("{}{};{}", conditions.narrowLimit,
                                conditions.mayCoincide ? "c" : "", conditions.surroundingBytes);
  for (const PlanConditions::Input &input : conditions.inputs) {
    key += fmt::format(";{}", static_cast<int>(input.kind));
    if (input.kind == Kind::Bound)
      key += fmt::format("{}{}", input.bound.describe(), input.bound.asText());
    for (const Size &size : input.sizes)
      key += "," + size.text();
    if (input.isRepeated)
      key += "r";
    if (input.sparseDensity)
      key += fmt::format("d{}", input.sparseDensity->high);
    if (input.cells)
      key += fmt::format("c{},{},{},{}", input.cells->cells.low, input.cells->cells.high,
                         input.cells->cells.mayBeZero, input.cells->holds);
  }
  return key;
}

InputFacts InputFacts::of(const Value &value) {
  if (value.isScalar())
    return {.kind = Kind::Scalar, .scalar = value};
  if (!value.isArray())
    return {.description = value.describe()};
  const runtime::Array &array = *value.array();
  InputFacts facts{.kind = Kind::Array, .isRepeated = array.isRepeated()};
  facts.sizes.assign(array.shape().sizes().begin(), array.shape().sizes().end());
  if (array.isSparse())
    facts.density = array.density();
  return facts;
}

Classification exec::classify(const pipeline::FrozenBlock &block, std::span<const Value> inputs,
                              const std::vector<bool> &varying, const ClassificationPolicy &policy,
                              const WantedCells &wanted) {
  std::vector<InputFacts> facts(inputs.size());
  std::transform(inputs.begin(), inputs.end(), facts.begin(), InputFacts::of);
  Classification result = classify(block, facts, varying, policy);
  for (const auto &[input, cells] : wanted) {
    PlanConditions::Input &condition = result.conditions.inputs[input];
    if (condition.kind == PlanConditions::Input::Kind::Array ||
        condition.kind == PlanConditions::Input::Kind::Free)
      condition.cells = {cells, runtime::allows(cells, inputs[input])};
  }
  return result;
}

Classification exec::classify(const pipeline::FrozenBlock &block,
                              std::span<const InputFacts> inputs, const std::vector<bool> &varying,
                              const ClassificationPolicy &policy) {
  Classification result;
  PlanConditions &conditions = result.conditions;
  const SizeHistory *history = policy.exactSizes ? nullptr : policy.history;
  conditions.mayCoincide = history;
  conditions.surroundingBytes = policy.surroundingBytes;
  conditions.narrowLimit = history ? -1 : policy.narrowLimit;
  if (!history)
    conditions.exactValues = block.literals;
  std::vector<int64_t> symbols; // the sizes that they stand for, or those sizes' groups
  size_t place = 0;             // of the next size in the history
  auto varies = [&] { return history && history->varies(place); };
  auto least = [&] { return policy.smallSizesChange && history->hasBeenSmall(place) ? 0 : 2; };
  auto isFixed = [&](int64_t size) {
    return varies() ? size < least() : size <= std::max<int64_t>(1, policy.narrowLimit);
  };
  auto sizeOf = [&](int64_t actual) {
    bool isLiteral = !varies() && llvm::is_contained(block.literals, actual);
    if (policy.exactSizes || isFixed(actual) || isLiteral)
      return Size::constant(actual);
    int64_t key = history ? static_cast<int64_t>(history->groupOf(place)) : actual;
    auto found = llvm::find(symbols, key);
    int64_t number = found - symbols.begin();
    if (found == symbols.end())
      symbols.push_back(key);
    auto [low, high] = sizeRange(actual, policy.fixedRanges);
    // Costs are estimated for the size, or for the geometric mean of a fixed range.
    int64_t estimate =
        policy.fixedRanges ? low * static_cast<int64_t>(std::sqrt(costRange)) : actual;
    if (policy.anySize)
      low = 0, high = largestSize;
    // What is planned for larger sizes does for small ones, which take little time.
    if (history) {
      low = least();
      estimate = std::max(estimate, costRange);
      high = std::max(high, costRange * costRange * costRange);
    }
    return Size::symbol(number, estimate, {std::max(low, conditions.narrowLimit + 1), high});
  };

  std::vector<std::string> descriptions;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputFacts &input = inputs[i];
    const Value &value = input.scalar;
    PlanConditions::Input condition;
    bool isSize = policy.integersAreSizes && value.isInteger();
    bool bind =
        i < block.bind.size() && block.bind[i] && (isSize || !(i < varying.size() && varying[i]));
    if (input.kind == InputFacts::Kind::Array) {
      condition.kind = PlanConditions::Input::Kind::Array;
      for (int64_t size : input.sizes) {
        condition.sizes.push_back(sizeOf(size));
        ++place;
      }
      descriptions.push_back(runtime::Shape(input.sizes).text());
      condition.isRepeated = input.isRepeated;
      if (input.isRepeated)
        descriptions.back() += " of one number";
      if (input.density) {
        condition.sparseDensity = densityRange(*input.density, policy.fixedRanges);
        descriptions.back() += fmt::format(" sparse {:.2g}", *input.density);
      }
    } else if (bind && value.isInteger() && !policy.exactSizes && value.asInteger() >= 0 &&
               !isFixed(value.asInteger())) {
      // The integer may be the size of an array: treating it as a size lets the plan know that the
      // two are equal; a bound literal would not.
      condition.kind = PlanConditions::Input::Kind::Integer;
      condition.sizes.push_back(sizeOf(value.asInteger()));
      descriptions.push_back(value.asText());
    } else if (bind && value.isNumber()) {
      condition.kind = PlanConditions::Input::Kind::Bound;
      condition.bound = value;
      descriptions.push_back("=" + value.asText());
    } else {
      descriptions.push_back(
          input.kind == InputFacts::Kind::Scalar ? "any scalar" : std::string(input.description));
    }
    if (value.isInteger())
      ++place;
    conditions.inputs.push_back(std::move(condition));
  }
  conditions.symbolCount = static_cast<int64_t>(symbols.size());
  result.description = fmt::format("{}", fmt::join(descriptions, ", "));
  return result;
}
