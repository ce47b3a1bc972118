// Outlines straight-line runs of array operations into functions ("blocks"): the units that are
// planned at run time, when the facts of their inputs are known.
//
//   outlineBlocks(module);
//
// A run of two operations, in MLIR:
//
//   %1 = tok.matmul %X, %w : ...            %1 = tok.execute @block_0(%X, %w) : ...
//   %2 = tok.aggregate sum full %1 : ...    ==>
//   tok.print(%2)                           tok.print(%2)
//
// A run ends at an operation with side effects, at control flow and at `tok.barrier`. Constants are
// copied into the block. The attribute `tok.bind` of the block's function, a boolean for each
// argument, says which scalars may be bound to their values: those that are invariant in the
// innermost loop around the run and in all parfors around it. Blocks in loops have `tok.loop_operations`, the number
// of operations on arrays in the innermost loop: more time is spent on their plans, and short loops find their code in caches.
#ifndef TOKAMAK_PIPELINE_OUTLINEBLOCKS_H
#define TOKAMAK_PIPELINE_OUTLINEBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Attribute of a product, until it is in a block: the number of the source position of the product.
inline constexpr llvm::StringLiteral writtenAttributeName = "tok.written";

inline constexpr llvm::StringLiteral bindAttributeName = "tok.bind";
inline constexpr llvm::StringLiteral blockAttributeName =
    "tok.block"; // unit attribute of a block's function
inline constexpr llvm::StringLiteral updatesAttributeName =
    "tok.updates"; // of tok.insert, by ParforResults.h: stays outside of blocks
inline constexpr llvm::StringLiteral namesAttributeName =
    "names"; // of tok.execute: the variables of its results

void outlineBlocks(mlir::ModuleOp module);

// Whether small arrays that are written out become part of a block that reads them, or its inputs.
enum class Literals : uint8_t { Copied, Inputs };

// Moves `operations` (consecutive members of one MLIR block, in order) into a new function and
// replaces them by a tok.execute; returns the function.
mlir::func::FuncOp outline(llvm::ArrayRef<mlir::Operation *> operations, llvm::StringRef name,
                           mlir::ModuleOp module, Literals literals = Literals::Copied);

} // namespace tokamak::pipeline
#endif
