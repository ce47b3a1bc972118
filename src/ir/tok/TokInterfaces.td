// Interfaces of `tok` operations: which native executes an operation, and inference of facts about
// its results.
#ifndef TOKAMAK_IR_TOK_INTERFACES_TD
#define TOKAMAK_IR_TOK_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Tok_NativeInterface : OpInterface<"NativeOpInterface"> {
  let cppNamespace = "::tokamak::tok";
  let description = [{
    An operation that the runtime executes by a native of this name (base/Natives.def), operands and results in order.
    Everything a native needs is an operand: there are no attributes to pass on.
  }];
  let methods = [InterfaceMethod<"name of the runtime's native", "llvm::StringRef", "getNativeName", (ins), "",
    [{ return $_op->getName().stripDialect(); }]>];
}

def Tok_FactsInterface : OpInterface<"FactsOpInterface"> {
  let cppNamespace = "::tokamak::tok";
  let description = [{
    Says what is known of the results (sizes, scalar values, density) from what is known of the operands. Also reports
    operands that can never be right: `checkFacts` returns failure after an error at the operation. The sizes of what
    natives give follow from their table, base/Natives.def.
  }];
  let methods = [
    InterfaceMethod<"infer facts of all results", "void", "inferFacts",
      (ins "llvm::ArrayRef<::tokamak::tok::Facts>":$operands,
           "llvm::MutableArrayRef<::tokamak::tok::Facts>":$results), "",
      [{ ::tokamak::tok::inferNativeFacts($_op, operands, results); }]>,
    InterfaceMethod<"check what is known of the operands", "llvm::LogicalResult", "checkFacts",
      (ins "llvm::ArrayRef<::tokamak::tok::Facts>":$operands), "", [{ return llvm::success(); }]>,
  ];
}

def FactsMethods : DeclareOpInterfaceMethods<Tok_FactsInterface, ["inferFacts"]>;
def FactsAndCheckMethods : DeclareOpInterfaceMethods<Tok_FactsInterface, ["inferFacts", "checkFacts"]>;
// Of natives, whose results' sizes follow from their table.
def NativeFacts : DeclareOpInterfaceMethods<Tok_FactsInterface>;
def NativeFactsAndCheck : DeclareOpInterfaceMethods<Tok_FactsInterface, ["checkFacts"]>;

#endif
