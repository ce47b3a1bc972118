#include "exec/Classification.h"

#include <cmath>

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::PlanConditions;
using runtime::Value;

static constexpr int64_t costRange = PlanConditions::costRange;

// A range of a factor of costRange on either side of the size; fixed: between
// two powers of costRange.
static PlanConditions::Range<int64_t> sizeRange(int64_t size, bool fixed) {
  constexpr int64_t largest = INT64_MAX / costRange;
  if (!fixed)
    return {(size + costRange - 1) / costRange, size > largest ? INT64_MAX : size * costRange};
  int64_t low = 1;
  while (low <= largest && low * costRange <= size)
    low *= costRange;
  return {low, low > largest ? INT64_MAX : low * costRange - 1};
}

static PlanConditions::Range<double> densityRange(double density, bool fixed) {
  constexpr double factor = costRange;
  if (!fixed)
    return {density / factor, density * factor};
  constexpr double least = 1e-12; // empty matrices share the range of nearly empty ones
  double high = 1;
  while (high > least && density <= high / factor)
    high /= factor;
  return {high <= least ? 0 : std::nextafter(high / factor, 1), high};
}

// The size for which costs are estimated: for fixed ranges the geometric mean of the range.
static int64_t middle(PlanConditions::Range<int64_t> range, int64_t actual,
                      const ClassificationPolicy &policy) {
  return policy.fixedRanges ? range.low * static_cast<int64_t>(std::sqrt(costRange)) : actual;
}

std::string Classification::key() const {
  using Kind = PlanConditions::Input::Kind;
  std::string key = std::to_string(conditions.narrowLimit);
  for (const PlanConditions::Input &input : conditions.inputs) {
    key += fmt::format(";{}", static_cast<int>(input.kind));
    if (input.kind == Kind::Bound)
      key += fmt::format("{}{}", input.bound.describe(), input.bound.asText());
    for (const PlanConditions::Size &size : input.sizes)
      key += fmt::format(",{}{}", size.isExact ? "" : "s", size.value);
    if (input.csrDensity)
      key += fmt::format("d{}", input.csrDensity->high);
    if (input.cells)
      key += fmt::format("c{},{},{},{}", input.cells->cells.low, input.cells->cells.high,
                         input.cells->cells.mayBeZero, input.cells->holds);
  }
  for (const auto &symbol : conditions.symbols)
    key += fmt::format(";{}-{}", symbol.low, symbol.high);
  return key;
}

Classification exec::classify(const pipeline::FrozenBlock &block, std::span<const Value> inputs,
                              const std::vector<bool> &varying, const ClassificationPolicy &policy,
                              const WantedCells &wanted) {
  Classification result;
  PlanConditions &conditions = result.conditions;
  conditions.narrowLimit = policy.narrowLimit;
  conditions.exactValues = block.literals;
  std::vector<int64_t> symbols;
  auto sizeOf = [&](int64_t actual) -> std::pair<PlanConditions::Size, tok::Dimension> {
    if (policy.exactSizes || actual <= policy.narrowLimit ||
        llvm::is_contained(block.literals, actual))
      return {{true, actual}, tok::Dimension::constant(actual)};
    auto found = llvm::find(symbols, actual);
    int64_t number = found - symbols.begin();
    if (found == symbols.end()) {
      symbols.push_back(actual);
      conditions.symbols.push_back(sizeRange(actual, policy.fixedRanges));
    }
    return {{false, number},
            tok::Dimension::symbol(number, middle(conditions.symbols[number], actual, policy))};
  };

  std::vector<std::string> descriptions;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value &value = inputs[i];
    PlanConditions::Input condition;
    pipeline::InputFacts facts;
    bool bind = i < block.bind.size() && block.bind[i] && !(i < varying.size() && varying[i]);
    if (value.isArray()) {
      condition.kind = PlanConditions::Input::Kind::Array;
      const runtime::Array &array = *value.array();
      for (int d = 0; d < array.shape().rank(); ++d) {
        auto [size, dimension] = sizeOf(array.shape()[d]);
        condition.sizes.push_back(size);
        facts.dims.push_back(dimension);
      }
      descriptions.push_back(array.shape().text());
      if (array.isCsr()) {
        condition.csrDensity = densityRange(array.density(), policy.fixedRanges);
        facts.csrDensity = policy.fixedRanges
                               ? std::sqrt(condition.csrDensity->low * condition.csrDensity->high)
                               : array.density();
        descriptions.back() += fmt::format(" csr {:.2g}", array.density());
      }
    } else if (bind && value.isInteger() && value.asInteger() > policy.narrowLimit &&
               !policy.exactSizes) {
      // The integer may be the size of an array: treating it as a size lets the plan know that the
      // two are equal; a bound literal would not.
      condition.kind = PlanConditions::Input::Kind::Integer;
      auto [size, dimension] = sizeOf(value.asInteger());
      condition.sizes.push_back(size);
      facts.integer = dimension;
      descriptions.push_back(value.asText());
    } else if (bind && value.isNumber()) {
      condition.kind = PlanConditions::Input::Kind::Bound;
      condition.bound = value;
      if (value.isBoolean())
        facts.bound = value.asBoolean();
      else if (value.isInteger())
        facts.bound = value.asInteger();
      else
        facts.bound = value.asDouble();
      descriptions.push_back("=" + value.asText());
    } else {
      descriptions.push_back(value.isScalar() ? "any scalar" : std::string(value.describe()));
    }
    bool isReadable = condition.kind == PlanConditions::Input::Kind::Array ||
                      condition.kind == PlanConditions::Input::Kind::Free;
    if (auto found = wanted.find(i); found != wanted.end() && isReadable)
      condition.cells = facts.cells = {found->second, runtime::allows(found->second, value)};
    conditions.inputs.push_back(std::move(condition));
    result.facts.push_back(std::move(facts));
  }
  result.description = fmt::format("{}", fmt::join(descriptions, ", "));
  return result;
}
