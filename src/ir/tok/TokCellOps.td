// Scalars and elementwise operators.
#ifndef TOKAMAK_IR_TOK_CELLOPS_TD
#define TOKAMAK_IR_TOK_CELLOPS_TD

include "TokBase.td"

def Tok_ConstantOp : Tok_PureOp<"constant", [ConstantLike, FactsMethods]> {
  let summary = "a literal";
  let description = [{
    ```mlir
    %0 = tok.constant 3 : i64
    %1 = tok.constant "text" : !tok.string
    %2 = tok.constant unit : none        // an absent optional argument
    ```
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs Tok_Value:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "int64_t":$value)>, OpBuilder<(ins "double":$value)>, OpBuilder<(ins "bool":$value)>,
    OpBuilder<(ins "llvm::StringRef":$text)>];
  let extraClassDeclaration = [{
    static ConstantOp none(::mlir::OpBuilder &builder, ::mlir::Location location);
  }];
}

def Tok_UndefOp : Tok_PureOp<"undef", [FactsMethods]> {
  let summary = "the value of a variable that was not assigned on this path";
  let description = "Raises when read: any use other than being carried along fails naming the variable.";
  let arguments = (ins StrAttr:$variable);
  let results = (outs Tok_Value:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Tok_UnaryOp : Tok_FallibleOp<"unary", [FactsMethods, ConditionallySpeculatable]> {
  let summary = "an elementwise operator of one operand, on an array or a scalar";
  let description = [{ `%y = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>`; the operators are those of base/CellOperators.def. }];
  let arguments = (ins I32Attr:$cellOperator, Tok_Value:$operand);
  let results = (outs Tok_Value:$result);
  let assemblyFormat = "custom<UnaryName>($cellOperator) $operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::tokamak::UnaryOperator":$kind, "::mlir::Value":$operand)>];
  let extraClassDeclaration = [{
    ::tokamak::UnaryOperator getKind() { return static_cast<::tokamak::UnaryOperator>(getCellOperator()); }
    ::mlir::Speculation::Speculatability getSpeculatability();
  }];
}

def Tok_BinaryOp : Tok_FallibleOp<"binary", [FactsAndCheckMethods, ConditionallySpeculatable]> {
  let summary = "an elementwise operator of two operands, which are broadcast to each other's sizes";
  let description = [{
    `%z = tok.binary add %x, %y : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>`. Arrays of any ranks are broadcast as
    NumPy does it: their dimensions are aligned at the last one; in each the sizes are equal, or one of them is 1 or
    missing and that operand is repeated. The result has the larger rank. Scalars go with everything. Beside an
    array a scalar is converted to its element type, in which every cell is computed (bf16 and f16 in f32, rounded).
    Comparisons and logic give 1 and 0 in that type, or an array of i1. It fails where sizes do not agree, and where a
    scalar integer result does not fit.

    `tok.binary add one_repeated %x, %y`, of two arrays, fails as well where both would have to be repeated: the result
    has the sizes of one of them. This is the rule of DML, in which a column plus a row is a mistake.
  }];
  let arguments = (ins I32Attr:$cellOperator, Tok_Value:$lhs, Tok_Value:$rhs, UnitAttr:$oneRepeated);
  let results = (outs Tok_Value:$result);
  let assemblyFormat = [{ custom<BinaryName>($cellOperator) (`one_repeated` $oneRepeated^)? $lhs `,` $rhs attr-dict
    `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result) }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::tokamak::BinaryOperator":$kind, "::mlir::Value":$lhs, "::mlir::Value":$rhs,
    CArg<"bool", "false">:$oneRepeated)>];
  let extraClassDeclaration = [{
    ::tokamak::BinaryOperator getKind() { return static_cast<::tokamak::BinaryOperator>(getCellOperator()); }
    ::mlir::Speculation::Speculatability getSpeculatability();
  }];
}

def Tok_IfElseOp : Tok_FallibleOp<"ifelse", [FactsAndCheckMethods]> {
  let summary = "elementwise selection: where the condition is not zero the first value, else the second";
  let description = [{
    Arrays among the three operands are broadcast to each other's sizes, as in tok.binary. Scalars go with everything.

    `tok.ifelse one_whole %c, %x, %y` fails as well where all arrays would have to be repeated: one of them has the sizes
    of the result. This is the rule of DML.
  }];
  let arguments = (ins Tok_Value:$condition, Tok_Value:$then, Tok_Value:$otherwise, UnitAttr:$oneWhole);
  let results = (outs Tok_Value:$result);
  let assemblyFormat = "(`one_whole` $oneWhole^)? operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tok_ConcatOp : Tok_FallibleOp<"concat", [FactsMethods]> {
  let summary = "the texts of two scalars, joined";
  let arguments = (ins Tok_Value:$lhs, Tok_Value:$rhs);
  let results = (outs Tok_String:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasFolder = 1;
}

def Tok_CastOp : Tok_FallibleOp<"cast", [FactsAndCheckMethods]> {
  let summary = "as.scalar, as.matrix, as.integer, as.double, as.logical, and to or from `!tok.scalar`";
  let description = [{
    A 1×1 array to a scalar, a scalar to a 1×1 array, a double to an integer (truncating), a number to a boolean (not
    zero), a list element to what it holds, an array to another element type. Fails where the value is not convertible.
  }];
  let arguments = (ins Tok_Value:$operand);
  let results = (outs Tok_Value:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif
