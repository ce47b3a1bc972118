// The `plan` dialect: fused operators. The operations chosen to run as one kernel become one
// `plan.operator`, whose body holds these `tok` operations unchanged.
#ifndef TOKAMAK_IR_PLAN_OPS_TD
#define TOKAMAK_IR_PLAN_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let summary = "fused operators: one operation, one kernel";
  let cppNamespace = "::tokamak::plan";
  let dependentDialects = ["::tokamak::tok::TokDialect"];
}

def Plan_OperatorOp : Op<Plan_Dialect, "operator", [IsolatedFromAbove, NoMemoryEffect,
    SingleBlock]> {
  let summary = "a fused operator";
  let description = [{
    ```mlir
    %q = plan.operator row(%X, %v) sizes [s0, 10, 10, 1] : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64> {
    ^bb0(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>):
      %0 = tok.matmul %x, %w : ...
      %1 = tok.transpose %x : ...
      %2 = tok.matmul %1, %0 : ...
      plan.yield %2 : tensor<?x?xf64>
    }
    ```
    `sizes` has rows and columns of every operand (0, 0 for a scalar) as functions of symbols (base/Size.h): `s0`,
    `"2*s0 + 1"`. Arrays of higher rank count as rows × last dimension. The body contains
    `tok` operations of the template only:
      cell      one array or one aggregate of elementwise operations over one iteration space
      row       elementwise operations, row aggregates, products with side inputs and with the transposed rows
      multiagg  several full aggregates over one iteration space
      outer     sampled products U %*% t(V), elementwise operations on them, their aggregates and left and right products

    All operands are dense unless `csr` lists them (by number of the operand). With a `driver`, one of those, the
    operator is evaluated at the driver's entries alone: every result is proved to be zero (or to get nothing added)
    elsewhere, and results listed in `csr_results` are CSR arrays with the entries of the driver.
    ```mlir
    %s = plan.operator cell(%S, %D) sizes [s0, s1, s0, s1] {csr = array<i64: 0>, driver = 0 : i64} : ...
    ```
    Where the driver is one of several operands listed in `united`, CSR and of the driver's sizes, it is evaluated at the
    entries of all of them: they are given the same entries before, with zeros filled in.
    ```mlir
    %s = plan.operator cell(%S, %T) sizes [s0, s1, s0, s1]
           {csr = array<i64: 0, 1>, driver = 0 : i64, united = array<i64: 0, 1>, csr_results = array<i64: 0>} : ...
    ```
  }];
  let arguments = (ins StrAttr:$fusionTemplate, Variadic<AnyType>:$inputs, ArrayAttr:$sizes,
                       OptionalAttr<StrAttr>:$label, OptionalAttr<DenseI64ArrayAttr>:$csr,
                       OptionalAttr<I64Attr>:$driver, OptionalAttr<DenseI64ArrayAttr>:$united,
                       OptionalAttr<DenseI64ArrayAttr>:$csr_results);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // Two for each operand.
    ::llvm::SmallVector<::tokamak::Size> operandSizes();
    bool isCsrOperand(int64_t operand) {
      return getCsr() && ::llvm::is_contained(*getCsr(), operand);
    }
    bool isUnitedOperand(int64_t operand) {
      return getUnited() && ::llvm::is_contained(*getUnited(), operand);
    }
    bool isCsrResult(int64_t result) {
      return getCsrResults() && ::llvm::is_contained(*getCsrResults(), result);
    }
  }];
}

def Plan_YieldOp : Op<Plan_Dialect, "yield", [Pure, ReturnLike, Terminator, HasParent<"OperatorOp">]> {
  let summary = "what a fused operator results in";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results `:` type($results) attr-dict";
}

#endif
