// Structured control flow; values that cross iterations or branches are carried explicitly.
#ifndef TOKAMAK_IR_TOK_CONTROLOPS_TD
#define TOKAMAK_IR_TOK_CONTROLOPS_TD

include "TokBase.td"

def Tok_YieldOp : Tok_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "ends a branch or a loop body with the values it passes on";
  let arguments = (ins Variadic<Tok_Value>:$inputs);
  let assemblyFormat = "($inputs^ `:` type($inputs))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}
def Tok_ConditionOp : Tok_Op<"condition", [Pure, Terminator, HasParent<"WhileOp">,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface, ["getSuccessorRegions"]>]> {
  let summary = "ends the condition of a while loop: whether to go on, and the carried values unchanged";
  let arguments = (ins I1:$condition, Variadic<Tok_Value>:$inputs);
  let assemblyFormat = "$condition (`,` $inputs^ `:` type($inputs))? attr-dict";
}

def Tok_IfOp : Tok_Op<"if", [DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorRegions",
    "getRegionInvocationBounds"]>, RecursiveMemoryEffects, RecursivelySpeculatable, NoRegionArguments,
    SingleBlock]> {
  let summary = "executes one of two branches";
  let arguments = (ins I1:$condition);
  let results = (outs Variadic<Tok_Value>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = "$condition (`->` type($results)^)? $thenRegion `else` $elseRegion attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tok_WhileOp : Tok_Op<"while", [DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults"]>, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "executes the body as long as the condition holds; carried values enter both regions";
  let arguments = (ins Variadic<Tok_Value>:$inits);
  let results = (outs Variadic<Tok_Value>:$results);
  let regions = (region SizedRegion<1>:$conditionRegion, SizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

class Tok_CountedLoop<string mnemonic> : Tok_Op<mnemonic,
    [DeclareOpInterfaceMethods<RegionBranchOpInterface, ["getEntrySuccessorOperands"]>,
     DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults"]>, RecursiveMemoryEffects, SingleBlock]> {
  let arguments = (ins I64:$from, I64:$to, I64:$step, Variadic<Tok_Value>:$inits);
  let results = (outs Variadic<Tok_Value>:$results);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Tok_ForOp : Tok_CountedLoop<"for"> {
  let summary = "executes the body for from, from+step, ... to (inclusive); a step of the wrong sign: not at all";
  let description = "The body's first argument is the counter (i64), the others are the carried values.";
}
def Tok_ParForOp : Tok_CountedLoop<"parfor"> {
  let summary = "a for loop whose iterations are independent of each other, up to accumulation";
}

def Tok_CallOp : Tok_Op<"call", [DeclareOpInterfaceMethods<CallOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "calls a function of the program";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Tok_Value>:$inputs);
  let results = (outs Variadic<Tok_Value>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

def Tok_ExecuteOp : Tok_Op<"execute", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "executes an outlined block: the unit that is planned, bound late and recompiled";
  let arguments = (ins FlatSymbolRefAttr:$block, Variadic<Tok_Value>:$inputs);
  let results = (outs Variadic<Tok_Value>:$results);
  let assemblyFormat = "$block `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

#endif
