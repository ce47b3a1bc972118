// Outlines straight-line runs of array operations into functions of their own: the units that are
// planned when their inputs' facts are known.
//
//   %1 = tok.matmul %X, %w : ...            %1 = tok.execute @block_0(%X, %w) : ...
//   %2 = tok.aggregate sum full %1 : ...    ==>
//   tok.print(%2)                           tok.print(%2)
//
// A run ends at an operation with effects, at control flow and at `tok.barrier`. Constants move
// into the block. The block's function says in `tok.bind`, a boolean for each argument, which
// scalars may be bound to their values: those that do not change in the innermost loop around the
// run, nor in any parfor.
#ifndef TOKAMAK_PIPELINE_OUTLINEBLOCKS_H
#define TOKAMAK_PIPELINE_OUTLINEBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// On a product: the number of the place where it was written, until it is in a block.
inline constexpr llvm::StringLiteral writtenAttributeName = "tok.written";

inline constexpr llvm::StringLiteral bindAttributeName = "tok.bind";
inline constexpr llvm::StringLiteral blockAttributeName =
    "tok.block"; // unit attribute of a block's function
inline constexpr llvm::StringLiteral updatesAttributeName =
    "tok.updates"; // of tok.insert, by ParforResults.h: stays outside of blocks
inline constexpr llvm::StringLiteral namesAttributeName =
    "names"; // of tok.execute: the variables of its results

void outlineBlocks(mlir::ModuleOp module);

// Moves `operations` (consecutive members of one MLIR block, in order) into a new function after
// which a tok.execute takes their place; returns the function.
mlir::func::FuncOp outline(llvm::ArrayRef<mlir::Operation *> operations, llvm::StringRef name,
                           mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
