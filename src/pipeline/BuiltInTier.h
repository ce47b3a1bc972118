// Blocks on little data run on kernels that are part of the program, one for each operation, until that has
// taken as long as compiling fused kernels would take: until then, compiling is the longer way. The few
// operations that no kernel of the program is for have theirs compiled.
//
//   double compiling = compilingNanoseconds(function);            // before operators are made
//   bool mayPay = touchingNanoseconds(function, factsOf) <= compiling;
//   std::optional<BuiltInRun> run = builtInRun(copy, kernels, compiling, true);   // a copy of single operators
//
// The choice is made by predictions of the fixed machine model, not by the clock: a program that runs
// again does the same, on every machine, and no machine need be measured for it. At worst the time lost is
// as long as compiling takes (the ski rental problem: Karlin, Manasse, Rudolph, Sleator, Competitive Snoopy
// Caching, Algorithmica 3, 1988).
#ifndef TOKAMAK_PIPELINE_BUILTINTIER_H
#define TOKAMAK_PIPELINE_BUILTINTIER_H

#include "codegen/KernelCompiler.h"
#include "cost/MachineModel.h"
#include "pipeline/Tier.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tokamak::pipeline {

// Nanoseconds of a plan of single operators.
struct BuiltInRun {
  double ofOneExecution = 0;
  double ofCompiling = 0; // fused kernels instead
};

// Of predictions for built-in kernels.
const cost::MachineModel &fixedMachine();

// What compiling fused kernels for a block takes, by the number of its operations on arrays.
double compilingNanoseconds(mlir::func::FuncOp block);

// What touching the block's results once takes at least, before it is fused.
double touchingNanoseconds(mlir::func::FuncOp block,
                           llvm::function_ref<const tok::Facts &(mlir::Value)> facts);

// How a block of single operators runs, natives not counted, if its first execution, and compiling the kernels that
// are not built in, takes no longer than `compiling` fused ones. None if it takes longer, if there are no operators, or if
// kernels would have to be compiled and `mayCompile` is false.
std::optional<BuiltInRun> builtInRun(mlir::func::FuncOp block,
                                     const codegen::KernelCompiler &kernels, double compiling,
                                     bool mayCompile);

} // namespace tokamak::pipeline
#endif
