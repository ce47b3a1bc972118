// The items of traces (TraceLineage.h): for each operation of a program the item, or the few items, by which SystemDS
// describes it.
//
//   mlir::OpBuilder builder(op);
//   TraceItems items(builder, traceOf, /*keepsOperands=*/false);
//   mlir::Value trace = items.ofResult(op->getResult(0));     // of a sum: list("(I) +", the traces of both operands)
#ifndef TOKAMAK_FRONTEND_DML_TRACEITEMS_H
#define TOKAMAK_FRONTEND_DML_TRACEITEMS_H

#include "ir/tok/TokDialect.h"

#include <functional>

namespace tokamak::frontend {

class TraceItems {
public:
  // `traceOf` gives the trace of an operand. With `keepsOperands` items of products and sums have their operands behind the
  // traces of these, for autoDiff.
  TraceItems(mlir::OpBuilder &builder, std::function<mlir::Value(mlir::Value)> traceOf,
             bool keepsOperands)
      : builder_(builder), traceOf_(std::move(traceOf)), keepsOperands_(keepsOperands) {}

  // The trace of a result of an operation without regions, made where the builder stands.
  mlir::Value ofResult(mlir::OpResult result);
  // The literal with the value that a scalar has at run time.
  mlir::Value ofScalar(mlir::Value scalar);
  mlir::Value operation(llvm::StringRef name, llvm::ArrayRef<mlir::Value> traces,
                        llvm::ArrayRef<mlir::Value> kept = {});
  mlir::Value creation(llvm::StringRef what);

private:
  // Texts, and scalars that become texts when the program runs.
  using Part = llvm::PointerUnion<mlir::Value, mlir::StringAttr>;
  mlir::Value item(mlir::Value text, llvm::ArrayRef<mlir::Value> behind = {});
  mlir::Value text(llvm::StringRef constant);
  mlir::Value joined(llvm::ArrayRef<Part> parts);
  Part part(llvm::StringRef constant) { return builder_.getStringAttr(constant); }
  mlir::Value ofOperator(mlir::Operation *op);
  mlir::Value ofProduct(tok::MatmulOp op);
  mlir::Value ofBinary(tok::BinaryOp op);
  mlir::Value ofAggregate(tok::AggregateOp op);
  mlir::Value ofCast(tok::CastOp op);
  mlir::Value ofRead(tok::ReadOp op);

  mlir::OpBuilder &builder_;
  std::function<mlir::Value(mlir::Value)> traceOf_;
  bool keepsOperands_;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_TRACEITEMS_H
