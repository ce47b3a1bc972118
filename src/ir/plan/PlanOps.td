// The `plan` dialect: fused operators. What was chosen to run as one kernel is one `plan.operator`, whose body is the
// `tok` operations it replaces, unchanged.
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
    %q = plan.operator row(%X, %v) sizes [-1, 10, 10, 1] : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64> {
    ^bb0(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>):
      %0 = tok.matmul %x, %w : ...
      %1 = tok.transpose %x : ...
      %2 = tok.matmul %1, %0 : ...
      plan.yield %2 : tensor<?x?xf64>
    }
    ```
    `sizes` has rows and columns of every operand (0, 0 for a scalar): a constant, or a negative number naming a
    symbol, equal numbers being proved equal. The body contains `tok` operations of the template only:
      cell      one array or one aggregate of elementwise operations over one iteration space
      row       elementwise operations, row aggregates, products with side inputs and with the transposed rows
      multiagg  several full aggregates over one iteration space
  }];
  let arguments = (ins StrAttr:$fusionTemplate, Variadic<AnyType>:$inputs, DenseI64ArrayAttr:$sizes,
                       OptionalAttr<StrAttr>:$label);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Plan_YieldOp : Op<Plan_Dialect, "yield", [Pure, ReturnLike, Terminator, HasParent<"OperatorOp">]> {
  let summary = "what a fused operator results in";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results `:` type($results) attr-dict";
}

#endif
