// Which of a program's inputs are expected to agree in size, found out from its operations: where they add X and y, those are
// equally long.
//
//   agreeOnExpectedSizes(module);
//
// The user of a program that is compiled before it has inputs says what sizes they are going to have, or nothing. In MLIR:
//
//   @f(%X {tok.expected_sizes = ["s0", "s1"]}, %y {tok.expected_sizes = ["s2", "s3"]})     // with X + y in it, becomes
//   @f(%X {tok.expected_sizes = ["s0", "s1"]}, %y {tok.expected_sizes = ["s0", "s1"]})
#ifndef TOKAMAK_PIPELINE_EXPECTEDSIZES_H
#define TOKAMAK_PIPELINE_EXPECTEDSIZES_H

#include "mlir/IR/BuiltinOps.h"

namespace tokamak::pipeline {

// Unit attribute of a module: sizes that operations ask to be equal are expected to be. Not set for programs whose inputs
// say themselves which of their sizes are equal.
inline constexpr llvm::StringLiteral sizesAgreeAttributeName = "tok.sizes_agree";

void agreeOnExpectedSizes(mlir::ModuleOp module);

} // namespace tokamak::pipeline
#endif
