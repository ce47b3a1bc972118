// The functions that the lambda expressions of `map` call: methods of texts (".length") and static ones ("Math.abs").
//
//   CellLibraryFunction *function = findCellFunction(".length");
//   CellFunctionValue word = std::string("abc");
//   function({&word, 1})                               // 3
#ifndef TOKAMAK_RUNTIME_TRANSFORM_CELLFUNCTIONLIBRARY_H
#define TOKAMAK_RUNTIME_TRANSFORM_CELLFUNCTIONLIBRARY_H

#include "runtime/transform/CellFunction.h"

namespace tokamak::runtime {

// Throws Error if the number or the types of the values are wrong.
using CellLibraryFunction = CellFunctionValue(std::span<const CellFunctionValue> values);

// Null if there is none.
CellLibraryFunction *findCellFunction(std::string_view name);
std::vector<std::string> cellFunctionNames();

// The number of a character; other values as they are.
CellFunctionValue promoted(const CellFunctionValue &value);
bool isCellNumber(const CellFunctionValue &value);
// Throws Error that names the operator for what is no number.
double cellNumber(const CellFunctionValue &value, std::string_view op);
std::string describeCell(const CellFunctionValue &value); // "the text \"a\"", "null"

} // namespace tokamak::runtime
#endif
