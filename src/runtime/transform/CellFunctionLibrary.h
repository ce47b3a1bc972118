// The functions that the lambda expressions of `map` call: methods of texts (".length") and static ones ("Math.abs").
//
//   const CellLibraryFunction *function = findCellFunction(".length");
//   CellFunctionValue word = std::string("abc");
//   (*function)({&word, 1})                            // 3
#ifndef TOKAMAK_RUNTIME_TRANSFORM_CELLFUNCTIONLIBRARY_H
#define TOKAMAK_RUNTIME_TRANSFORM_CELLFUNCTIONLIBRARY_H

#include "runtime/transform/CellFunction.h"

namespace tokamak::runtime {

// What is called as `name`, and with how many values: that of a method is the first.
struct CellLibraryFunction {
  static constexpr size_t anyCount = SIZE_MAX;

  std::string_view name;
  size_t least, most;
  CellFunctionValue (*call)(std::span<const CellFunctionValue> values, std::string_view name);

  // Throws Error if the number or the types of the values are wrong.
  CellFunctionValue operator()(std::span<const CellFunctionValue> values) const;
};

// Null if there is none.
const CellLibraryFunction *findCellFunction(std::string_view name);
std::vector<std::string> cellFunctionNames();

std::span<const CellLibraryFunction> cellTextFunctions();
std::span<const CellLibraryFunction> cellNumberFunctions();

// The number of a character; other values as they are.
CellFunctionValue promoted(const CellFunctionValue &value);
bool isCellNumber(const CellFunctionValue &value);
// Throws Error that names the operator for what is no number.
double cellNumber(const CellFunctionValue &value, std::string_view op);
std::string describeCell(const CellFunctionValue &value); // "the text \"a\"", "null"

// The values of a call. Both throw Error that names the function for what has another type. What a method is called on may
// be the number of a cell: its text. A character is a text of one.
std::string textAt(std::span<const CellFunctionValue> values, size_t i, std::string_view function);
int64_t integerAt(std::span<const CellFunctionValue> values, size_t i, std::string_view function);

} // namespace tokamak::runtime
#endif
