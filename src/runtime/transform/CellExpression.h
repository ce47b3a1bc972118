// The tree of a function of cells (CellFunction.h), and what makes it of its text.
//
//   std::vector<std::string> parameters;
//   CellExpressionPointer body = parseCellFunction("x -> x.length() + 1", parameters);     // a sum; parameters: {"x"}
#ifndef TOKAMAK_RUNTIME_TRANSFORM_CELLEXPRESSION_H
#define TOKAMAK_RUNTIME_TRANSFORM_CELLEXPRESSION_H

#include "runtime/transform/CellFunctionLibrary.h"

namespace tokamak::runtime {

using CellExpressionPointer = std::unique_ptr<CellExpression>;

// `op`: an operator, or how a function is called; what the children are depends on the kind.
struct CellExpression {
  enum class Kind : uint8_t { Literal, Parameter, Unary, Binary, Choice, Index, Array, Call } kind;
  CellFunctionValue literal;
  size_t parameter = 0;
  std::string op;
  const CellLibraryFunction *function = nullptr;
  std::vector<CellExpressionPointer> children;
};

// Throws Error with the place in the text: for what is no lambda expression, and for unknown names.
CellExpressionPointer parseCellFunction(std::string_view text,
                                        std::vector<std::string> &parameters);

} // namespace tokamak::runtime
#endif
