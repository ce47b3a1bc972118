// Interfaces of `tok` operations: which native executes an operation, and inference of facts about
// its results.
#ifndef TOKAMAK_IR_TOK_INTERFACES_TD
#define TOKAMAK_IR_TOK_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Tok_NativeInterface : OpInterface<"NativeOpInterface"> {
  let cppNamespace = "::tokamak::tok";
  let description = [{
    An operation that the runtime executes by a native of this name, operands and results in order. Everything a
    native needs is an operand: there are no attributes to pass on.
  }];
  let methods = [InterfaceMethod<"name of the runtime's native", "llvm::StringRef", "getNativeName", (ins), "",
    [{ return $_op->getName().stripDialect(); }]>];
}

def Tok_FactsInterface : OpInterface<"FactsOpInterface"> {
  let cppNamespace = "::tokamak::tok";
  let description = [{
    Says what is known of the results (sizes, scalar values, density) from what is known of the operands. Also reports
    operands that can never be right: `checkFacts` returns failure after an error at the operation.
  }];
  let methods = [
    InterfaceMethod<"infer facts of all results", "void", "inferFacts",
      (ins "llvm::ArrayRef<::tokamak::tok::Facts>":$operands,
           "llvm::MutableArrayRef<::tokamak::tok::Facts>":$results)>,
    InterfaceMethod<"check what is known of the operands", "llvm::LogicalResult", "checkFacts",
      (ins "llvm::ArrayRef<::tokamak::tok::Facts>":$operands), "", [{ return llvm::success(); }]>,
  ];
}

#endif
