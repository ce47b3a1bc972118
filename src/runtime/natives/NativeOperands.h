// Shared code of the natives: checks of operands (dense f64 arrays, unless the table entry says
// otherwise) with messages that name the native, taking over arrays without other owners, and
// parallel loops over fixed ranges.
//
//   const Array &x = matrixOperand(operands[0], "rev");
//   int64_t rows = sizeOperand(operands[1], "matrix", "rows");
#ifndef TOKAMAK_RUNTIME_NATIVES_NATIVEOPERANDS_H
#define TOKAMAK_RUNTIME_NATIVES_NATIVEOPERANDS_H

#include "base/Error.h"
#include "base/Sizes.h"
#include "base/SoleOwner.h"
#include "runtime/memory/MemoryCharge.h"
#include "runtime/natives/Native.h"
#include "runtime/parallel/TileScheduler.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak::runtime {

// The least number of cells that a range of a parallel loop should touch.
constexpr int64_t parallelGrain = int64_t{1} << 16;

const Array &matrixOperand(const Value &value, std::string_view native);

// A dense array of any rank, for natives that take more than doubles (NativeAccess).
const Array &denseOperand(const Value &value, std::string_view native);
// The same for rank 2.
const Array &denseMatrixOperand(const Value &value, std::string_view native);

// The type in which a native makes numbers that are converted to the result's type afterwards,
// unless that is f64 or f32.
inline ElementType typeOfNumbers(const ExecutionContext &context) {
  return mayBeSparse(context.resultType) ? context.resultType : ElementType::F64;
}

// Calls body.operator()<Number>() for the type of the cells of an array of f64 or f32.
template <typename Body> void withFloatCells(const Array &array, const Body &body) {
  if (array.elementType() == ElementType::F32)
    body.template operator()<float>();
  else
    body.template operator()<double>();
}

// A number as a cell of this type; integers do not become doubles on the way.
template <typename Cell> Cell cellFrom(const Value &number) {
  return number.isInteger() ? convertCell<Cell>(number.asInteger())
                            : convertCell<Cell>(number.asDouble());
}

// `what` names the things counted: "rows", "columns".
inline int64_t sizeOperand(const Value &value, std::string_view native, std::string_view what) {
  return checkedSize(value.asInteger(), native, what);
}

// The size of a dimension, counted from 0; most are right, so that the text is made for errors alone.
int64_t sizeOfDimension(const Value &value, std::string_view native, int dimension);

const std::string &textOperand(const Value &value, std::string_view native, std::string_view what);

inline bool isSoleOwner(const Value &value) {
  return value.isArray() && hasSoleOwner(value.array()) && value.array()->ownsWholeBuffer();
}

// The operand's array for writing: itself if it has no other owner, else a copy.
ArrayPointer takeOrCopy(Value &operand);

// Likewise of an operand that is a list.
std::shared_ptr<List> takeOrCopyList(Value &operand);

// Calls body(begin, end) for ranges of at most `grain` that cover [0, count); the ranges depend on
// count and grain alone.
template <typename Body>
void forEachRange(ExecutionContext &context, int64_t count, int64_t grain, const Body &body) {
  grain = std::max<int64_t>(1, grain);
  int64_t ranges = (count + grain - 1) / grain;
  auto range = [&](int64_t i) { body(i * grain, std::min(count, (i + 1) * grain)); };
  if (context.scheduler && ranges > 1)
    return context.scheduler->forEach(ranges, range);
  for (int64_t i = 0; i < ranges; ++i)
    range(i);
}

// In how many parts the threads take so many cells, each of at least `leastOfPart`. What is computed must not depend on it.
inline int64_t partsOf(const ExecutionContext &context, int64_t cells, int64_t leastOfPart) {
  int64_t threads = context.scheduler ? context.scheduler->threads() : 1;
  return std::clamp<int64_t>(cells / leastOfPart, 1, threads);
}

// An array with this number in every cell; large ones are repeated.
ArrayPointer filledWith(ExecutionContext &context, const Shape &shape, ElementType type,
                        const Value &number);

// Adds up `count` partial results of `cells` cells each, stored one behind the other, into the
// first one, in a tree that depends on `count` alone.
template <typename Number>
void addPartials(ExecutionContext &context, Number *partials, int64_t count, int64_t cells) {
  forEachRange(context, cells, parallelGrain / 4, [&](int64_t begin, int64_t end) {
    for (int64_t step = 1; step < count; step *= 2)
      for (int64_t i = 0; i + step < count; i += 2 * step)
        for (int64_t j = begin; j < end; ++j)
          partials[i * cells + j] =
              static_cast<Number>(partials[i * cells + j] + partials[(i + step) * cells + j]);
  });
}

// Like forEachRange, for ranges of rows with about `parallelGrain` cells each.
template <typename Body>
void forEachRowRange(ExecutionContext &context, int64_t rows, int64_t columns, const Body &body) {
  forEachRange(context, rows, parallelGrain / std::max<int64_t>(1, columns), body);
}

} // namespace tokamak::runtime
#endif
