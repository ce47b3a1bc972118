#include "runtime/image/PlanConditions.h"

#include "base/Error.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

namespace tokamak::runtime {
namespace {

// The sizes bound to symbols so far; few plans have more symbols than fit inline.
class SymbolValues {
public:
  SymbolValues(size_t count, bool mayCoincide) : count_(count), mayCoincide_(mayCoincide) {
    if (count > inline_.size())
      heap_.resize(count);
    std::fill_n(data(), count, unknown);
  }
  // False if the symbol is bound to another size, or this size to another symbol where that matters.
  bool assign(int64_t symbol, int64_t size) {
    int64_t &known = data()[symbol];
    if (known != unknown)
      return known == size;
    if (!mayCoincide_ && std::find(data(), data() + count_, size) != data() + count_)
      return false; // two sizes that differed for the plan are equal now
    known = size;
    return true;
  }

private:
  static constexpr int64_t unknown = -1;
  int64_t *data() { return heap_.empty() ? inline_.data() : heap_.data(); }
  std::array<int64_t, 8> inline_;
  std::vector<int64_t> heap_;
  size_t count_;
  bool mayCoincide_;
};

class Check {
public:
  explicit Check(const PlanConditions &conditions)
      : conditions_(conditions), symbols_(conditions.symbolCount, conditions.mayCoincide) {}

  bool holds(const PlanConditions::Input &expected, const Value &actual) {
    using Kind = PlanConditions::Input::Kind;
    switch (expected.kind) {
    case Kind::Free:
      return true;
    case Kind::Bound:
      return identical(expected.bound, actual);
    case Kind::Integer:
      return actual.isInteger() && sizeHolds(expected.sizes[0], actual.asInteger());
    case Kind::Array:
      if (!actual.isArray() || !sizesHold(expected, *actual.array()) ||
          actual.array()->isRepeated() != expected.isRepeated)
        return false;
      hasOtherDensity_ = !densityHolds(expected, *actual.array());
      return !hasOtherDensity_;
    }
    return false;
  }

  // Reads the data, so it is called last.
  static bool cellsHold(const PlanConditions::Input &expected, const Value &actual) {
    return !expected.cells || allows(expected.cells->cells, actual) == expected.cells->holds;
  }

  // Whether only the density of the input that failed differs: its sizes agree.
  bool hasOtherDensity() const { return hasOtherDensity_; }

private:
  static bool densityHolds(const PlanConditions::Input &expected, const Array &array) {
    if (!expected.sparseDensity || !array.isSparse())
      return expected.sparseDensity.has_value() == array.isSparse();
    return expected.sparseDensity->contains(array.density());
  }

  bool sizeHolds(const Size &expected, int64_t actual) {
    if (expected.isConstant())
      return actual == expected.constantValue();
    auto [low, high] = expected.range();
    const std::vector<int64_t> &exact = conditions_.exactValues;
    return actual > conditions_.narrowLimit &&
           std::find(exact.begin(), exact.end(), actual) == exact.end() &&
           symbols_.assign(expected.symbolId(), actual) && actual >= low && actual <= high;
  }

  bool sizesHold(const PlanConditions::Input &expected, const Array &array) {
    const Shape &shape = array.shape();
    if (shape.rank() != static_cast<int>(expected.sizes.size()))
      return false;
    for (int d = 0; d < shape.rank(); ++d)
      if (!sizeHolds(expected.sizes[d], shape[d]))
        return false;
    return true;
  }

  const PlanConditions &conditions_;
  SymbolValues symbols_;
  bool hasOtherDensity_ = false;
};

std::string describe(const PlanConditions::Input &expected, const Value &actual,
                     bool hasOtherDensity) {
  if (!actual.isArray() && !actual.isScalar())
    return std::string(actual.describe());
  if (expected.kind == PlanConditions::Input::Kind::Bound && actual.isScalar())
    return fmt::format("scalar {} instead of {}", actual.asText(), expected.bound.asText());
  if (actual.isScalar())
    return fmt::format("{} {}", actual.isInteger() ? "integer" : "scalar", actual.asText());
  if (actual.array()->isRepeated() != expected.isRepeated)
    return expected.isRepeated ? "cells of its own" : "one number in all cells";
  if (!hasOtherDensity)
    return "size " + actual.array()->shape().text();
  return actual.array()->isSparse() ? fmt::format("density {:.2g}", actual.array()->density())
                                    : "dense cells";
}

std::string describeCells(const CellCondition &condition) {
  const CellFact &cells = condition.cells;
  bool isRange = std::isfinite(cells.low) || std::isfinite(cells.high);
  std::string outside =
      isRange ? fmt::format("NaN or outside of {} to {}", cells.low, cells.high) : "zero or NaN";
  return condition.holds ? "a cell that is " + outside : "no cell any more that is " + outside;
}

template <typename Number>
bool allAllowed(const CellFact &fact, const Number *cells, int64_t count) {
  constexpr int64_t step = 4096; // cells between two branches
  for (int64_t begin = 0; begin < count; begin += step) {
    bool allowed = true;
    for (int64_t i = begin, end = std::min(count, begin + step); i < end; ++i) {
      auto cell = static_cast<double>(cells[i]);
      allowed &= (cell >= fact.low) & (cell <= fact.high) & (fact.mayBeZero | (cell != 0));
    }
    if (!allowed)
      return false;
  }
  return true;
}

} // namespace

bool allows(const CellFact &cells, const Value &value) {
  if (value.isNumber())
    return cells.allows(value.asDouble());
  if (!value.isArray())
    return false;
  const Array &array = *value.array();
  if (!mayBeSparse(array.elementType()))
    return false; // facts are about cells of f64 and f32
  if (cells.mayBeNan)
    internalError("plans are made for what is not NaN");
  if (array.isRepeated())
    return cells.allows(array.repeatedCell());
  bool isSingle = array.elementType() == ElementType::F32;
  if (array.isSparse() && array.entries() < array.cells() && !cells.allows(0))
    return false;
  int64_t count = array.isSparse() ? array.entries() : array.cells();
  int64_t first = array.isSparse() ? array.rowOffsets()[0] : 0;
  return isSingle ? allAllowed(cells, array.floats() + first, count)
                  : allAllowed(cells, array.data() + first, count);
}

bool PlanConditions::holdFor(std::span<const Value> values) const {
  Check check(*this);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!check.holds(inputs[i], values[i]))
      return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!Check::cellsHold(inputs[i], values[i]))
      return false;
  return true;
}

std::string PlanConditions::text() const {
  std::string text;
  for (const Input &input : inputs) {
    text += text.empty() ? "" : ", ";
    for (const Size &size : input.sizes)
      text += (&size == &input.sizes.front() ? "" : " x ") + size.text();
    if (input.sparseDensity)
      text += " sparse";
    if (input.kind == Input::Kind::Bound)
      text += "=" + input.bound.asText();
    if (input.kind == Input::Kind::Free)
      text += "any";
  }
  return text.empty() ? "no inputs" : text;
}

std::string PlanConditions::mismatch(std::span<const Value> values) const {
  Check check(*this);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!check.holds(inputs[i], values[i]))
      return fmt::format("input {} has {}", i + 1,
                         describe(inputs[i], values[i], check.hasOtherDensity()));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!Check::cellsHold(inputs[i], values[i]))
      return fmt::format("input {} has {}", i + 1, describeCells(*inputs[i].cells));
  return "";
}

bool identical(const Value &a, const Value &b) {
  if (a.isBoolean() && b.isBoolean())
    return a.asBoolean() == b.asBoolean();
  if (a.isInteger() && b.isInteger())
    return a.asInteger() == b.asInteger();
  if (a.isDouble() && b.isDouble())
    return std::bit_cast<uint64_t>(a.asDouble()) == std::bit_cast<uint64_t>(b.asDouble());
  return false;
}

} // namespace tokamak::runtime
