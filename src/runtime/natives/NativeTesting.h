// For the unit tests of natives: calls natives by name, builds and compares small matrices.
//
//   EXPECT_EQ(cellsOf(call("rev", {matrix(2, 1, {1, 2})})), (Cells{2, 1}));
#ifndef TOKAMAK_RUNTIME_NATIVES_NATIVETESTING_H
#define TOKAMAK_RUNTIME_NATIVES_NATIVETESTING_H

#include "base/Error.h"
#include "runtime/natives/Native.h"
#include "runtime/parallel/TileScheduler.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>

namespace tokamak::runtime::testing {

using Cells = std::vector<double>;

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

inline Value matrix(int64_t rows, int64_t columns, const Cells &cells) {
  ArrayPointer array = Array::create({rows, columns});
  EXPECT_EQ(static_cast<int64_t>(cells.size()), rows * columns);
  std::copy(cells.begin(), cells.end(), array->mutableData());
  return array;
}

inline Value integer(int64_t value) { return value; }

// The cells of an array of any layout, row by row.
inline Cells cellsOf(const Value &value) {
  ArrayReference dense = Array::asDense(value.array());
  return {dense->data(), dense->data() + dense->cells()};
}

inline std::string sizeOf(const Value &value) { return value.array()->shape().text(); }

inline std::vector<Value> callAll(std::string_view name, std::vector<Value> operands,
                                  size_t resultCount, int threads = 2) {
  const Native *native = findNative(name);
  if (!native)
    internalError("no native " + std::string(name));
  Scheduler scheduler(threads);
  ExecutionContext context;
  context.scheduler = &scheduler;
  std::vector<Value> results(resultCount);
  native->function(context, operands, results);
  return results;
}

inline Value call(std::string_view name, std::vector<Value> operands, int threads = 2) {
  return callAll(name, std::move(operands), 1, threads)[0];
}

inline std::string printed(std::vector<Value> operands) {
  std::ostringstream output;
  ExecutionContext context;
  context.output = &output;
  findNative("print")->function(context, operands, {});
  return output.str();
}

template <typename Action> std::string errorOf(const Action &action) {
  try {
    action();
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

inline std::string errorOf(std::string_view name, std::vector<Value> operands) {
  return errorOf([&] { call(name, std::move(operands)); });
}

} // namespace tokamak::runtime::testing
#endif
