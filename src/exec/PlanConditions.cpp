#include "exec/PlanConditions.h"

#include <bit>

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Value;

bool exec::identical(const Value &a, const Value &b) {
  if (a.isBoolean() && b.isBoolean())
    return a.asBoolean() == b.asBoolean();
  if (a.isInteger() && b.isInteger())
    return a.asInteger() == b.asInteger();
  if (a.isDouble() && b.isDouble())
    return std::bit_cast<uint64_t>(a.asDouble()) == std::bit_cast<uint64_t>(b.asDouble());
  return false;
}

static bool densityHolds(std::optional<double> expected, const runtime::Array &array) {
  if (!expected || !array.isCsr())
    return expected.has_value() == array.isCsr();
  constexpr double range = PlanConditions::costRange;
  double density = array.density();
  return density <= *expected * range && density >= *expected / range;
}

template <typename Report>
bool PlanConditions::check(std::span<const Value> inputs, Report report) const {
  llvm::SmallVector<int64_t, 8> symbols(symbolEstimates_.size(), -1);
  auto sizeHolds = [&](const Size &expected, int64_t actual) {
    if (expected.exact)
      return actual == expected.value;
    if (actual <= narrowLimit_ || llvm::is_contained(exactValues_, actual))
      return false;
    int64_t &symbol = symbols[expected.value];
    if (symbol >= 0)
      return symbol == actual;
    if (llvm::is_contained(symbols, actual))
      return false; // two sizes that differed are equal now
    symbol = actual;
    int64_t estimate = symbolEstimates_[expected.value];
    return actual <= estimate * costRange && actual >= estimate / costRange;
  };
  auto sizesHold = [&](const Input &expected, const Value &actual) {
    if (!actual.isArray() ||
        actual.array()->shape().rank() != static_cast<int>(expected.sizes.size()))
      return false;
    for (auto [dimension, size] : llvm::enumerate(expected.sizes))
      if (!sizeHolds(size, actual.array()->shape()[dimension]))
        return false;
    return true;
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input &expected = inputs_[i];
    const Value &actual = inputs[i];
    switch (expected.kind) {
    case Input::Kind::Free:
      break;
    case Input::Kind::Bound:
      if (!identical(expected.bound, actual))
        return report(
            i, fmt::format("scalar {} instead of {}", actual.asText(), expected.bound.asText()));
      break;
    case Input::Kind::Integer:
      if (!sizeHolds(expected.sizes[0], actual.asInteger()))
        return report(i, fmt::format("integer {}", actual.asInteger()));
      break;
    case Input::Kind::Array:
      if (!sizesHold(expected, actual))
        return report(i, "size " + actual.array()->shape().text());
      if (!densityHolds(expected.csrDensity, *actual.array()))
        return report(i, actual.array()->isCsr()
                             ? fmt::format("density {:.2g}", actual.array()->density())
                             : "dense cells");
      break;
    }
  }
  return true;
}

bool PlanConditions::holdFor(std::span<const Value> inputs) const {
  return check(inputs, [](size_t, auto &&) { return false; });
}

std::string PlanConditions::mismatch(std::span<const Value> inputs) const {
  std::string text;
  check(inputs, [&](size_t input, const std::string &what) {
    text = fmt::format("input {} has {}", input + 1, what);
    return false;
  });
  return text;
}

Classification exec::classify(const pipeline::FrozenBlock &block, std::span<const Value> inputs,
                              const std::vector<bool> &varying,
                              const ClassificationPolicy &policy) {
  Classification result;
  PlanConditions &conditions = result.conditions;
  conditions.narrowLimit_ = policy.narrowLimit;
  conditions.exactValues_ = block.literals;
  std::vector<int64_t> symbols;
  auto sizeOf = [&](int64_t actual) -> std::pair<PlanConditions::Size, tok::Dimension> {
    if (policy.exactSizes || actual <= policy.narrowLimit ||
        llvm::is_contained(block.literals, actual))
      return {{true, actual}, tok::Dimension::constant(actual)};
    auto found = llvm::find(symbols, actual);
    int64_t number = found - symbols.begin();
    if (found == symbols.end())
      symbols.push_back(actual);
    return {{false, number}, tok::Dimension::symbol(number, actual)};
  };

  std::vector<std::string> descriptions;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value &value = inputs[i];
    PlanConditions::Input condition;
    pipeline::InputFacts facts;
    bool bind = i < block.bind.size() && block.bind[i] && !varying[i];
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
        condition.csrDensity = facts.csrDensity = array.density();
        descriptions.back() += fmt::format(" csr {:.2g}", array.density());
      }
    } else if (bind && value.isInteger() && value.asInteger() > policy.narrowLimit &&
               !policy.exactSizes) {
      // An integer may be a size: it takes part in the equalities of sizes instead of being a
      // literal.
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
    conditions.inputs_.push_back(std::move(condition));
    result.facts.push_back(std::move(facts));
  }
  conditions.symbolEstimates_ = symbols;
  result.description = fmt::format("{}", fmt::join(descriptions, ", "));
  return result;
}
