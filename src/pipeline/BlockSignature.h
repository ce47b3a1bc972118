// What a frozen block takes and computes, for those who plan it before there are inputs.
//
//   BlockSignature signature = signatureOf(block);
//   signature.inputs[0].rank == 2
#ifndef TOKAMAK_PIPELINE_BLOCKSIGNATURE_H
#define TOKAMAK_PIPELINE_BLOCKSIGNATURE_H

#include "pipeline/CompileSession.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace tokamak::pipeline {

struct BlockSignature {
  struct Input {
    enum class Kind : uint8_t { Array, Integer, Number, Other } kind;
    int rank = 0; // of an array
  };
  enum class Contents : uint8_t {
    Cells,     // one operation on cells, whose array operands must agree in size
    Aggregate, // one aggregate
    Operator,  // one operator of the program's text
    Several,   // anything else
  };
  std::vector<Input> inputs;
  Contents contents = Contents::Several;
  std::string operation; // Cells: as the language writes it, "+"
};

BlockSignature signatureOf(const FrozenBlock &block);

// The operations of a block that kernels are generated for and that no native computes.
llvm::SmallVector<mlir::Operation *> operationsWithKernels(mlir::func::FuncOp block);

} // namespace tokamak::pipeline
#endif
