// For the tests of code generation: operators that are written as a block of tok operations. The
// body of the operator comes from the rules that fusion uses (ir/plan/BodyBuilder.h); the expected
// results are computed operation by operation. The text is, in MLIR:
//
//   block sizes [s0, s1, s0, 1] driver [0] csr [0] (%x: $M, %v: $M) -> ($M, f64) {
//     %0 = tok.binary mul %x, %v : ($M, $M) -> $M
//     %1 = tok.aggregate sum full %0 : $M -> f64
//     return %0, %1 : $M, f64
//   }
//
// `sizes` has rows and columns of each operand, 0, 0 for a scalar; `driver` and `csr` list operands by
// number.
//
//   BlockOperator parsed = parseBlockOperator(context, text);
//   std::vector<Matrix> expected = interpret(parsed.block, {{3, 2, {1, 2, 3, 4, 5, 6}}}, {0.5});
#ifndef TOKAMAK_CODEGEN_TESTING_BLOCKOPERATOR_H
#define TOKAMAK_CODEGEN_TESTING_BLOCKOPERATOR_H

#include "codegen/testing/KernelLauncher.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tokamak::codegen {

struct BlockOperator {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp block;
  plan::OperatorOp op;
};

// Fails the current test if the text is wrong or the operator is not valid. $M is the type of
// matrices of `cells`, $F that of matrices of f32.
BlockOperator parseBlockOperator(mlir::MLIRContext &context, const std::string &text,
                                 const std::string &cells = "f64");

// The expected results of the block.
std::vector<Matrix> interpret(mlir::func::FuncOp block, const std::vector<Matrix> &inputs,
                              const std::vector<double> &scalars);
// Those of the operator's body (reference/BodyMeaning.h); scalars are 1x1.
std::vector<Matrix> interpretBody(plan::OperatorOp op, const std::vector<Matrix> &inputs,
                                  const std::vector<double> &scalars);

} // namespace tokamak::codegen
#endif
