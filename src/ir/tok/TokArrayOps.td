// Arrays: aggregation, products, reorganisation, construction.
#ifndef TOKAMAK_IR_TOK_ARRAYOPS_TD
#define TOKAMAK_IR_TOK_ARRAYOPS_TD

include "TokBase.td"

def Tok_AggregateOp : Tok_FallibleOp<"aggregate", [FactsMethods, ConditionallySpeculatable]> {
  let summary = "sum, prod, min, max, mean, var, sd of all cells (a scalar), of each row (m×1), of each column (1×n)";
  let description = [{
    `%s = tok.aggregate sum full %x : tensor<?x?xf64> -> f64`; indices of extremes are of rows only. Of an array of
    any rank `row` aggregates along the last dimension, which becomes 1; `column` is of matrices. All cells together
    give an f64, whatever the element type.
  }];
  let arguments = (ins I32Attr:$aggregation, I32Attr:$over, Tok_Tensor:$operand);
  let results = (outs Tok_Value:$result);
  let assemblyFormat = [{ custom<AggregateName>($aggregation) custom<DirectionName>($over) $operand attr-dict `:`
    type($operand) `->` type($result) }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::tokamak::AggregateKind":$kind, "::tokamak::AggregateDirection":$direction,
                             "::mlir::Value":$operand)>];
  let extraClassDeclaration = [{
    ::tokamak::AggregateKind getKind() { return static_cast<::tokamak::AggregateKind>(getAggregation()); }
    ::tokamak::AggregateDirection getDirection() { return static_cast<::tokamak::AggregateDirection>(getOver()); }
    ::mlir::Speculation::Speculatability getSpeculatability() { return ::mlir::Speculation::Speculatable; }
  }];
}

def Tok_MatmulOp : Tok_PureNativeOp<"matmul", [NativeFactsAndCheck]> {
  let summary = "matrix product";
  let description = [{
    Of arrays of more than two dimensions: the products of the matrices in the last two, one for each place in the
    leading dimensions; where one operand has size 1 there, its matrix is used for all places of the other.
  }];
  let arguments = (ins Tok_Tensor:$lhs, Tok_Tensor:$rhs);
  let results = (outs Tok_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tok_TransposeOp : Tok_PureNativeOp<"transpose", [NativeFacts, AlwaysSpeculatable]> {
  let summary = "transposed matrix; of arrays of more dimensions the last two are exchanged";
  let arguments = (ins Tok_Tensor:$operand);
  let results = (outs Tok_Tensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tok_RowsOp : Tok_PureOp<"rows", [FactsMethods]> {
  let summary = "number of rows of a matrix or frame, of elements of a list";
  let arguments = (ins Tok_Value:$operand);
  let results = (outs I64:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}
def Tok_ColumnsOp : Tok_PureOp<"columns", [FactsMethods]> {
  let summary = "number of columns";
  let arguments = (ins Tok_Value:$operand);
  let results = (outs I64:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}
def Tok_LengthOp : Tok_PureOp<"length", [FactsMethods]> {
  let summary = "number of cells of an array, of elements of a list, 1 for a scalar";
  let arguments = (ins Tok_Value:$operand);
  let results = (outs I64:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Tok_SizeOp : Tok_PureOp<"size", [FactsMethods]> {
  let summary = "size of one dimension of an array; dimensions count from 1";
  let arguments = (ins Tok_Tensor:$operand, I64Attr:$dimension);
  let results = (outs I64:$result);
  let assemblyFormat = "$operand `[` $dimension `]` attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Tok_LiteralOp : Tok_PureOp<"literal", [FactsMethods]> {
  let summary = "an array written out, of any rank";
  let description = [{
    ```mlir
    %0 = tok.literal dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>    // a tensor<?x?xf64>
    ```
    The result's type has no sizes: they are facts, as everywhere.
  }];
  let arguments = (ins ElementsAttr:$cells);
  let results = (outs Tok_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Tok_ViewOp : Tok_PureNativeOp<"view", [NativeFactsAndCheck]> {
  let summary = "the same cells, the last dimension running fastest, in another shape of any rank";
  let description = "`%1 = tok.view %0 [%a, %b, %c] : tensor<?x?xf64> -> tensor<?x?x?xf64>`; no cell is copied.";
  let arguments = (ins Tok_Tensor:$operand, Variadic<I64>:$sizes);
  let results = (outs Tok_Tensor:$result);
  let assemblyFormat = "$operand `[` $sizes `]` attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}
def Tok_ExpandOp : Tok_PureNativeOp<"expand", [NativeFactsAndCheck]> {
  let summary = "repeats an array along dimensions of size 1, up to the sizes given; other dimensions have theirs already";
  let description = "`%1 = tok.expand %0 [%a, %b, %c] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>`";
  let arguments = (ins Tok_Tensor:$operand, Variadic<I64>:$sizes);
  let results = (outs Tok_Tensor:$result);
  let assemblyFormat = "$operand `[` $sizes `]` attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Tok_SliceOp : Tok_PureNativeOp<"slice", [NativeFactsAndCheck]> {
  let summary = "X[r1:r2, c1:c2]: 1-based, inclusive; always an array";
  let arguments = (ins Tok_Value:$operand, I64:$rowBegin, I64:$rowEnd, I64:$columnBegin, I64:$columnEnd);
  let results = (outs Tok_Value:$result);
}
def Tok_InsertOp : Tok_PureNativeOp<"insert", [NativeFactsAndCheck]> {
  let summary = "a copy of the first operand with the cells of the range replaced; a scalar replaces exactly one";
  let arguments = (ins Tok_Value:$into, Tok_Value:$value, I64:$rowBegin, I64:$rowEnd, I64:$columnBegin, I64:$columnEnd);
  let results = (outs Tok_Value:$result);
}

def Tok_FillOp : Tok_PureNativeOp<"fill", [NativeFactsAndCheck]> {
  let summary = "a matrix with the same value (a scalar, of any type) in every cell; sizes must not be negative";
  let arguments = (ins Tok_Value:$value, I64:$rows, I64:$columns);
  let results = (outs Tok_Tensor:$result);
}
def Tok_RepeatedCellOp : Tok_PureNativeOp<"repeated_cell", [NativeFacts]> {
  let summary = "the number in every cell of an array that is stored as one number";
  let arguments = (ins Tok_Tensor:$operand);
  let results = (outs F64:$result);
}
def Tok_ReshapeOp : Tok_PureNativeOp<"reshape", [NativeFactsAndCheck]> {
  let summary = "the same cells in another shape, read and written by rows (or by columns)";
  let arguments = (ins Tok_Tensor:$operand, I64:$rows, I64:$columns, I1:$byRow);
  let results = (outs Tok_Tensor:$result);
}
def Tok_ParseMatrixOp : Tok_PureNativeOp<"parse_matrix", [NativeFactsAndCheck]> {
  let summary = "matrix(\"1 2 3 4\", rows, columns): numbers between blanks or line breaks, by rows";
  let arguments = (ins Tok_Value:$text, I64:$rows, I64:$columns);
  let results = (outs Tok_Tensor:$result);
}
def Tok_RandOp : Tok_NativeOp<"rand", [NativeFactsAndCheck, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "random matrix: counter-based, a function of seed and position alone; seed -1 draws a new seed";
  let arguments = (ins I64:$rows, I64:$columns, F64:$min, F64:$max, F64:$sparsity, I64:$seed, Tok_String:$pdf,
                       F64:$lambda);
  let results = (outs Tok_Tensor:$result);
}
def Tok_SampleOp : Tok_NativeOp<"sample", [NativeFactsAndCheck, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "size×1 random integers of 1..range, with or without replacement";
  let arguments = (ins I64:$range, I64:$size, I1:$replacement, I64:$seed);
  let results = (outs Tok_Tensor:$result);
}
def Tok_SeqOp : Tok_PureNativeOp<"seq", [NativeFactsAndCheck]> {
  let summary = "column vector from, from+by, ... to; `by` may be absent (none): 1 or -1";
  let arguments = (ins F64:$from, F64:$to, Tok_Value:$by);
  let results = (outs Tok_Tensor:$result);
}
def Tok_CbindOp : Tok_PureNativeOp<"cbind", [NativeFactsAndCheck]> {
  let summary = "matrices (or frames, scalars in lists) side by side";
  let arguments = (ins Variadic<Tok_Value>:$inputs);
  let results = (outs Tok_Value:$result);
}
def Tok_RbindOp : Tok_PureNativeOp<"rbind", [NativeFactsAndCheck]> {
  let summary = "matrices (or frames, lists) below each other";
  let arguments = (ins Variadic<Tok_Value>:$inputs);
  let results = (outs Tok_Value:$result);
}
def Tok_TableOp : Tok_PureNativeOp<"table", [NativeFactsAndCheck]> {
  let summary = "contingency table F[a_k, b_k] += w_k; b, w may be scalars, absent w is 1; absent sizes are the largest keys";
  let arguments = (ins Tok_Tensor:$rowKeys, Tok_Value:$columnKeys, Tok_Value:$weights, Tok_Value:$rows,
                       Tok_Value:$columns);
  let results = (outs Tok_Tensor:$result);
}
def Tok_RemoveEmptyOp : Tok_PureNativeOp<"remove_empty", [NativeFacts]> {
  let summary = "drops rows or columns (margin) that are all zero, or where select is zero (select may be none)";
  let arguments = (ins Tok_Tensor:$operand, Tok_String:$margin, Tok_Value:$select, I1:$emptyReturn);
  let results = (outs Tok_Tensor:$result);
}
def Tok_OuterOp : Tok_PureNativeOp<"outer", [NativeFactsAndCheck]> {
  let summary = "u op v, broadcast to each other's sizes, for the binary operator of this spelling";
  let arguments = (ins Tok_Tensor:$lhs, Tok_Tensor:$rhs, Tok_String:$spelling);
  let results = (outs Tok_Tensor:$result);
}
def Tok_ReplaceOp : Tok_PureNativeOp<"replace", [NativeFacts]> {
  let summary = "cells equal to pattern (NaN matches NaN) replaced";
  let arguments = (ins Tok_Tensor:$operand, F64:$pattern, F64:$replacement);
  let results = (outs Tok_Tensor:$result);
}
def Tok_DiagOp : Tok_PureNativeOp<"diag", [NativeFacts]> {
  let summary = "n×1 to the n×n diagonal matrix, n×n to its diagonal n×1";
  let arguments = (ins Tok_Tensor:$operand);
  let results = (outs Tok_Tensor:$result);
}
def Tok_CallNativeOp : Tok_NativeOp<"native",
    [NativeFacts, ConditionallySpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a native of the runtime by name: one that is no operation of its own";
  let description = [{
    `%y = tok.native "order"(%x, %by, %decreasing, %index) : (...) -> tensor<?x?xf64>`; names, operands and what is
    known of the results are in base/Natives.def, which also says whether it is more than a function of its operands.
  }];
  let arguments = (ins StrAttr:$native, Variadic<Tok_Value>:$inputs);
  let results = (outs Variadic<Tok_Value>:$outputs);
  let assemblyFormat = "$native `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let extraClassDeclaration = [{
    llvm::StringRef getNativeName() { return getNative(); }
    ::mlir::Speculation::Speculatability getSpeculatability();
    // What a native such as cumsum aggregates along columns, up to each cell.
    std::optional<::tokamak::AggregateKind> getCumulativeKind();
  }];
}

#endif
