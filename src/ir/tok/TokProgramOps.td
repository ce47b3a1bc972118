// Operations with side effects (files, output, failure), and annotations for the compiler.
#ifndef TOKAMAK_IR_TOK_PROGRAMOPS_TD
#define TOKAMAK_IR_TOK_PROGRAMOPS_TD

include "TokBase.td"

class Tok_EffectOp<string mnemonic> : Tok_NativeOp<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def Tok_ReadOp : Tok_NativeOp<"read", [MemoryEffects<[MemRead, MemWrite]>, NativeFactsAndCheck]> {
  let summary = "reads a file; every parameter but the path may be absent (none) and is then taken from path.mtd";
  let arguments = (ins Tok_String:$path, Tok_Value:$format, Tok_Value:$rows, Tok_Value:$columns, Tok_Value:$nnz,
    Tok_Value:$dataType, Tok_Value:$valueType, Tok_Value:$header, Tok_Value:$separator, Tok_Value:$fill,
    Tok_Value:$defaultValue, Tok_Value:$naStrings, Tok_Value:$schema, Tok_Value:$rowsInBlock, Tok_Value:$columnsInBlock,
    Tok_Value:$indexSeparator, Tok_Value:$dataset);
  let results = (outs Tok_Value:$result);
}
def Tok_WriteOp : Tok_NativeOp<"write", [MemoryEffects<[MemRead, MemWrite]>, NativeFactsAndCheck]> {
  let summary = "writes a value and its .mtd; absent parameters are none";
  let arguments = (ins Tok_Value:$value, Tok_Value:$path, Tok_Value:$format, Tok_Value:$header, Tok_Value:$separator,
    Tok_Value:$sparse, Tok_Value:$description, Tok_Value:$rowsInBlock, Tok_Value:$columnsInBlock,
    Tok_Value:$indexSeparator, Tok_Value:$dataset);
}
def Tok_PrintOp : Tok_EffectOp<"print"> {
  let summary = "prints a value and ends the line; with more operands: a format and its arguments";
  let arguments = (ins Variadic<Tok_Value>:$inputs);
}
def Tok_StopOp : Tok_EffectOp<"stop"> {
  let summary = "ends the program with this message";
  let arguments = (ins Tok_Value:$message);
}
def Tok_RaiseOp : Tok_EffectOp<"raise"> {
  let summary = "fails with this message; stands in front of an operation that is proved wrong";
  let arguments = (ins Tok_String:$message);
}
def Tok_AssertOp : Tok_EffectOp<"assert"> {
  let summary = "ends the program if the condition is false";
  let arguments = (ins Tok_Value:$condition);
}
def Tok_TimeOp : Tok_EffectOp<"time"> {
  let summary = "the clock, in nanoseconds";
  let results = (outs I64:$result);
}
def Tok_ToStringOp : Tok_PureNativeOp<"to_string", [NativeFacts]> {
  let summary = "a value as text";
  let arguments = (ins Tok_Value:$operand, Tok_Value:$rows, Tok_Value:$columns, Tok_Value:$decimals,
    Tok_Value:$sparse, Tok_Value:$separator, Tok_Value:$lineSeparator);
  let results = (outs Tok_String:$result);
}
def Tok_ListOp : Tok_PureNativeOp<"list", [NativeFacts]> {
  let summary = "list(a, b) or list(n=a, m=b): the first operand holds the names, joined by commas, or is none";
  let arguments = (ins Tok_Value:$names, Variadic<Tok_Value>:$elements);
  let results = (outs Tok_List:$result);
}
def Tok_BarrierOp : Tok_Op<"barrier", [MemoryEffects<[MemWrite]>]> {
  let summary = "`while(FALSE){}`: blocks end here";
  let assemblyFormat = "attr-dict";
}
def Tok_AssumeOp : Tok_PureOp<"assume", [FactsMethods]> {
  let summary = "states sizes of an array, for tests and for programs in the dialect's own text";
  let description = "`%1 = tok.assume %0 [1000, 10] : tensor<?x?xf64>`; a negative size is not known.";
  let arguments = (ins Tok_Tensor:$operand, DenseI64ArrayAttr:$sizes);
  let results = (outs Tok_Tensor:$result);
  let assemblyFormat = "$operand $sizes attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif
