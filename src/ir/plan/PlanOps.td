// The `plan` dialect: fused operators as tensor expressions over an iteration space. docs/plan-ir.md
// explains it on examples.
#ifndef TOKAMAK_IR_PLAN_OPS_TD
#define TOKAMAK_IR_PLAN_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "TokInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let summary = "fused operators: one operation, one kernel";
  let cppNamespace = "::tokamak::plan";
  let dependentDialects = ["::tokamak::tok::TokDialect"];
  let useDefaultTypePrinterParser = 1;
}

def Plan_Cell : TypeDef<Plan_Dialect, "Cell"> {
  let mnemonic = "cell";
  let summary = "a function from a set of axes of the operator to cells of one element type";
  let description = [{
    `!plan.cell<(d0, d2) -> f32>` has an f32 for each point of axes d0 and d2 and does not depend on the others;
    `!plan.cell<() -> f64>` is the same everywhere. Axes are in ascending order.
  }];
  let parameters = (ins ArrayRefParameter<"unsigned">:$axes, "::mlir::Type":$element);
  let assemblyFormat = "`<` custom<CellAxes>($axes) `->` $element `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool runsOver(unsigned axis) const { return ::llvm::is_contained(getAxes(), axis); }
  }];
}

def Plan_OperatorOp : Op<Plan_Dialect, "operator", [IsolatedFromAbove, NoMemoryEffect, SingleBlock, NoTerminator,
                                                    FactsAndCheckMethods]> {
  let summary = "a fused operator";
  let description = [{
    Fusion writes operators; a program's text may contain them, too.
    ```mlir
    %q = plan.operator (%x = %X [s0, 10], %w = %v [10, 1], %c = %s) axes [s0, 10 reduced] -> [s0, 1]
        : (tensor<?x?xf64>, tensor<?x?xf64>, f64) -> tensor<?x?xf64> {
      %0 = plan.read %x (d0, d1) -> (d0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
      %1 = plan.read %w (d0, d1) -> (d1, 0) : tensor<?x?xf64> -> !plan.cell<(d1) -> f64>
      %2 = plan.binary mul %0, %1 : (!plan.cell<(d0, d1) -> f64>, !plan.cell<(d1) -> f64>) -> !plan.cell<(d0, d1) -> f64>
      %3 = plan.reduce sum %2 over [d1] in f64 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0) -> f64>
      plan.write %3 to 0 (d0, d1) -> (d0, 0) : !plan.cell<(d0) -> f64>
    }
    ```
    `axes` lists the sizes of axes d0, d1, ... as functions of symbols (base/Size.h), each with its property: parallel
    (not written), `reduced` if something is reduced over it, `scanned` if something is scanned along it. In brackets
    behind an operand or result that is an array: its sizes.

    `sparse` before the sizes says that the array is in that format. The operator is evaluated at the entries of its
    `driver` alone, a sparse operand: all results are proved to be zero, or to get nothing added, elsewhere. Several
    drivers have the same sizes; they are given the same entries before (their union), with zeros filled in. A `sparse`
    result has the entries of the drivers.
    ```mlir
    plan.operator (%s = %S driver [s0, s1], %d = %D [s0, s1]) axes [s0, s1] -> sparse [s0, s1] : ...
    ```

    `{compact}` behind the sizes of results asks for little code: the axes are so short that time for compiling is saved.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, ArrayAttr:$operand_sizes, ArrayAttr:$result_sizes,
                       ArrayAttr:$axis_sizes, OptionalAttr<StrAttr>:$label,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$sparse,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$drivers,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$sparse_results, UnitAttr:$compact);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::tokamak::Size> axisSizes();
    // One list for each operand or result; empty for scalars.
    ::llvm::SmallVector<::llvm::SmallVector<::tokamak::Size>> operandSizes();
    ::llvm::SmallVector<::llvm::SmallVector<::tokamak::Size>> resultSizes();
    // What the body does along the axis.
    ::tokamak::plan::AxisKind axisKind(unsigned axis);
    // Whether the operands are proved to have the sizes that are declared.
    bool hasSizes(::llvm::ArrayRef<::tokamak::tok::Facts> operands);
    bool hasDrivers() { return !getDrivers().empty(); }
    // Drivers are sparse operands, too.
    bool isSparseOperand(int64_t operand) { return ::llvm::is_contained(getSparse(), operand); }
    bool isDriver(int64_t operand) { return ::llvm::is_contained(getDrivers(), operand); }
    bool isSparseResult(int64_t result) { return ::llvm::is_contained(getSparseResults(), result); }
  }];
}

def Plan_Index : Type<And<[Plan_Cell.predicate, CPred<"::llvm::cast<CellType>($_self).getElement().isInteger(64)">]>,
                      "cell of type i64", "::tokamak::plan::CellType">;

// An operator or aggregate of base/CellOperators.def, stored as its number.
class Plan_KindAttr<string enum> : TypedSignlessIntegerAttrBase<I32, "::tokamak::" # enum, "number of " # enum> {
  let convertFromStorage = "static_cast<" # returnType # ">($_self.getInt())";
  let constBuilderCall = "$_builder.getI32IntegerAttr(static_cast<int32_t>($0))";
}

class Plan_BodyOp<string mnemonic, list<Trait> traits> : Op<Plan_Dialect, mnemonic, [HasParent<"OperatorOp">] # traits>;

// The cell runs over the axes that plan::axesOf gives, and no others.
class Plan_ComputedOp<string mnemonic, list<Trait> traits = []> : Plan_BodyOp<mnemonic, [Pure] # traits> {
  let results = (outs Plan_Cell:$cell);
}

def Plan_IndexForEachSymbol
    : PredOpTrait<"the map has a symbol for each index", CPred<"getMap().getNumSymbols() == getIndices().size()">>;

def Plan_ReadOp : Plan_BodyOp<"read", [Pure, Plan_IndexForEachSymbol]> {
  let summary = "the cells of an operand, at the place that a map gives for each point of the axes";
  let description = [{
    ```mlir
    %0 = plan.read %x (d0, d1) -> (d1, d0) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>      // the transpose
    %1 = plan.read %x (d0, d1)[s0] -> (s0, d1) at %k : ...                       // rows numbered by the cells of %k
    %2 = plan.read %x (d0, d1) -> (d0 + d1 - 1, 0) outside 0.0 : ...         // a window
    %3 = plan.read %c (d0, d1) -> () : f64 -> !plan.cell<() -> f64>              // a scalar
    ```
    The symbols of the map are the cells of `at`. Places outside of the array are errors of the code that
    built the operator, unless there is a value `outside`. The cell runs over the axes of the map and of `at`; it may
    run over others of size 1, too. Scalars are cells of type i64 or else f64.
  }];
  let arguments = (ins AnyType:$operand, AffineMapAttr:$map, Variadic<Plan_Index>:$indices,
                       OptionalAttr<F64Attr>:$outside);
  let results = (outs Plan_Cell:$cell);
  let assemblyFormat = [{ $operand custom<Map>($map) (`at` $indices^ `:` type($indices))? (`outside` $outside^)?
    attr-dict `:` type($operand) `->` type($cell) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // Of the operand of the operator.
    unsigned getNumber() { return ::llvm::cast<::mlir::BlockArgument>(getOperand()).getArgNumber(); }
  }];
}

def Plan_WriteOp : Plan_BodyOp<"write", [Plan_IndexForEachSymbol]> {
  let summary = "a part of a result, at the place that a map gives for each point of the cell's axes";
  let description = [{
    `plan.write %0 to 1 (d0, d1)[s0] -> (d0, d1 + s0) at %n : ...` writes to result 1. A cell is repeated
    along axes of the map that it does not run over. The parts of a result don't overlap and cover it.
  }];
  let arguments = (ins Plan_Cell:$cell, I64Attr:$number, AffineMapAttr:$map, Variadic<Plan_Index>:$indices);
  let assemblyFormat = [{ $cell `to` $number custom<Map>($map) (`at` $indices^ `:` type($indices))? attr-dict `:`
    type($cell) }];
}

def Plan_SizeOp : Plan_ComputedOp<"size"> {
  let summary = "a size, as an index of reads and writes";
  let description = "`%n = plan.size \"s0 + 1\" : !plan.cell<() -> i64>`";
  let arguments = (ins StrAttr:$size);
  let results = (outs Plan_Index:$cell);
  let assemblyFormat = "$size attr-dict `:` type($cell)";
  let hasVerifier = 1;
}

def Plan_ConstantOp : Plan_ComputedOp<"constant", [
    PredOpTrait<"the number has the type of the cell", CPred<"getValue().getType() == getType().getElement()">>]> {
  let summary = "the same number everywhere";
  let description = "`%0 = plan.constant 2.5 : !plan.cell<() -> f32>`; integers are written as such: `3 : i64`.";
  let arguments = (ins TypedAttrInterface:$value);
  let assemblyFormat = "$value attr-dict `:` type($cell)";
}

def Plan_NumberOp : Plan_ComputedOp<"number", [
    PredOpTrait<"the cell runs over the axis and is a double",
                CPred<"getType().getAxes() == ::llvm::ArrayRef<unsigned>(getAxis()) && getType().getElement().isF64()">>]> {
  let summary = "the number of each place along an axis, from 1";
  let description = "`%0 = plan.number 1 : !plan.cell<(d1) -> f64>` counts columns.";
  let arguments = (ins I64Attr:$axis);
  let assemblyFormat = "$axis attr-dict `:` type($cell)";
}

def Plan_UnaryOp : Plan_ComputedOp<"unary"> {
  let summary = "an elementwise operator of one operand; the result is converted from the operand's element type";
  let arguments = (ins Plan_KindAttr<"UnaryOperator">:$kind, Plan_Cell:$operand);
  let assemblyFormat = "custom<UnaryName>($kind) $operand attr-dict `:` type($operand) `->` type($cell)";
}

def Plan_BinaryOp : Plan_ComputedOp<"binary", [
    PredOpTrait<"both operands have the same element type",
                CPred<"getLhs().getType().getElement() == getRhs().getType().getElement()">>]> {
  let summary = "an elementwise operator of two operands of one element type, in which it computes";
  let description = "The result runs over the axes of both; comparisons may be converted to another element type.";
  let arguments = (ins Plan_KindAttr<"BinaryOperator">:$kind, Plan_Cell:$lhs, Plan_Cell:$rhs);
  let assemblyFormat = [{ custom<BinaryName>($kind) $lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)`
    `->` type($cell) }];
}

def Plan_IfElseOp : Plan_ComputedOp<"ifelse", [
    PredOpTrait<"both choices have the element type of the result",
                CPred<"getThen().getType().getElement() == getType().getElement() && "
                      "getOtherwise().getType().getElement() == getType().getElement()">>]> {
  let summary = "where the condition is not zero the first value, else the second";
  let arguments = (ins Plan_Cell:$condition, Plan_Cell:$then, Plan_Cell:$otherwise);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Plan_CastOp : Plan_ComputedOp<"cast"> {
  let summary = "the same cells in another element type, by the rules of base/ElementType.h";
  let arguments = (ins Plan_Cell:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($cell)";
}

def Plan_ReindexOp : Plan_ComputedOp<"reindex", [
    PredOpTrait<"the map has a result for each axis of the operand",
                CPred<"getMap().getNumResults() == getOperand().getType().getAxes().size()">>,
    PredOpTrait<"the element type stays", CPred<"getOperand().getType().getElement() == getType().getElement()">>]> {
  let summary = "a computed value at the place that a map gives for each point of the axes";
  let description = [{
    `%1 = plan.reindex %0 (d0, d1, d2) -> (d0, d2) : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0, d2) -> f64>`:
    the map has one result for each axis of the operand. What is computed along one axis is read along another one, as
    in `P + P %*% B`.
  }];
  let arguments = (ins Plan_Cell:$operand, AffineMapAttr:$map);
  let assemblyFormat = "$operand custom<Map>($map) attr-dict `:` type($operand) `->` type($cell)";
}

class Plan_AggregationOp<string mnemonic, list<Trait> traits = []> : Plan_ComputedOp<mnemonic, traits> {
  let arguments = (ins Plan_KindAttr<"AggregateKind">:$kind, Plan_Cell:$operand, DenseI64ArrayAttr:$over,
                       TypeAttr:$accumulator);
  let assemblyFormat = [{ custom<AggregateName>($kind) $operand `over` custom<Axes>($over) `in` $accumulator
    attr-dict `:` type($operand) `->` type($cell) }];
  let hasVerifier = 1;
}

def Plan_ReduceOp : Plan_AggregationOp<"reduce"> {
  let summary = "sum, prod, min, max or the place of an extreme over axes";
  let description = [{
    `%1 = plan.reduce sum %0 over [d1] in f64 : !plan.cell<(d0, d1) -> f32> -> !plan.cell<(d0) -> f32>`: cells are
    accumulated in the type `in`, the total is converted to that of the result. A sum of products in its accumulator's
    type is a chain of fused multiply-adds. Indices count from 1; among equal extremes the last one is chosen, NaN
    never, and 1 if there is none.
  }];
}

def Plan_ScanOp : Plan_AggregationOp<"scan", [
    PredOpTrait<"it is a sum, prod, min or max along one axis",
                CPred<"getOver().size() == 1 && getKind() <= ::tokamak::AggregateKind::Max">>]> {
  let summary = "for each place along an axis the aggregate of all places up to it";
  let description = "`%1 = plan.scan sum %0 over [d0] in f64 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0, d1) -> f64>`";
}

#endif
