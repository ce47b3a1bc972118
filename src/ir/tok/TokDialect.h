// The `tok` dialect and its operations (TokOps.td); TokBase.td describes the dialect's invariants.
//
//   auto sum = builder.create<tok::AggregateOp>(location, AggregateKind::Sum,
//                                               AggregateDirection::Full, matrix);
#ifndef TOKAMAK_IR_TOK_TOKDIALECT_H
#define TOKAMAK_IR_TOK_TOKDIALECT_H

#include "base/CellOperators.h"
#include "ir/tok/ElementTypes.h"
#include "ir/tok/Facts.h"
#include "ir/tok/NativeFacts.h"
#include "ir/tok/SizesAttribute.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "TokDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "TokTypes.h.inc"

#include "TokInterfaces.h.inc"

#define GET_OP_CLASSES
#include "TokOps.h.inc"

namespace tokamak::tok {

// Unit attribute of tok.parfor: it is proved that no iteration reads or replaces a cell that
// another iteration replaces.
inline constexpr llvm::StringLiteral independentAttributeName = "tok.independent";
// Integer attribute of tok.parfor: the maximum number of iterations executed at a time.
inline constexpr llvm::StringLiteral workersAttributeName = "tok.workers";

// Unit attribute of a function whose arguments are expected to have other sizes in each call, and of its blocks.
inline constexpr llvm::StringLiteral manySizesAttributeName = "tok.many_sizes";
// Integer attribute of a function: so many of its last arguments are weights, the same in all calls.
inline constexpr llvm::StringLiteral weightsAttributeName = "tok.weights";

// tensor<?x?xf64>: the type of a DML matrix.
mlir::RankedTensorType matrixType(mlir::MLIRContext *context);

inline bool isArray(mlir::Type type) { return llvm::isa<mlir::RankedTensorType>(type); }
// An array whose rank is not 2.
inline bool isTensor(mlir::Type type) {
  return isArray(type) && llvm::cast<mlir::RankedTensorType>(type).getRank() != 2;
}
// Whether the operation is a plan.operator, which a program's text may contain. Its body is of that
// dialect, about which tok knows nothing.
inline bool isFusedOperator(mlir::Operation *op) {
  return op->getName().getDialectNamespace() == "plan" && llvm::isa<FactsOpInterface>(op);
}
// i64, f64, i1, !tok.string or !tok.scalar.
bool isScalar(mlir::Type type);
// i64, f64 or i1.
inline bool isNumber(mlir::Type type) {
  return type.isInteger(64) || type.isF64() || type.isInteger(1);
}

// The type of an array as large as two arrays that are broadcast to each other's sizes: that of the
// larger rank; null if their element types differ.
mlir::Type broadcastType(mlir::Type a, mlir::Type b);
// Whether a scalar is combined with cells of this type: any number with floats, integers and
// booleans with integers, booleans with i1.
bool goesWith(mlir::Type scalar, ElementType cells);

// The result types of the cell operators; null if the operand types are incompatible (a string in
// arithmetic, a boolean with a number, unary minus of a boolean, arrays of different element types,
// an element type that the operator does not take). The front end reports these errors before it
// builds the operation.
mlir::Type unaryResultType(UnaryOperator op, mlir::Type operand);
mlir::Type binaryResultType(BinaryOperator op, mlir::Type lhs, mlir::Type rhs);
mlir::Type ifElseResultType(mlir::Type condition, mlir::Type then, mlir::Type otherwise);
// Whether an operator may have this result type: the inferred one, or for operators with a boolean
// result on arrays also an array of i1.
bool isCellResult(CellResult result, mlir::Type inferred, mlir::Type actual);

// The name of a type in messages to users: "a matrix", "an integer", ...
llvm::StringRef describeType(mlir::Type type);

} // namespace tokamak::tok
#endif
