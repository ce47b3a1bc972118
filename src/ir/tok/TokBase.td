// The `tok` dialect: complete machine-learning programs as array algebra with structured control
// flow.
#ifndef TOKAMAK_IR_TOK_BASE_TD
#define TOKAMAK_IR_TOK_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "TokInterfaces.td"

def Tok_Dialect : Dialect {
  let name = "tok";
  let summary = "array programs: values are immutable, sizes are facts, control flow is structured";
  let description = [{
    An array is a builtin `tensor` with dynamic dimensions, one to eight of them (a DML matrix is `tensor<?x?xf64>`).
    Its elements are of type f64, f32, f16, bf16, i8 to i64 (signed), ui8 to ui64 or i1. Operations compute in the
    element type: integers keep their lowest bits where a result does not fit. A scalar is `i64`,
    `f64`, `i1`, `!tok.string`, or `!tok.scalar` where the static type is not known. Indices are 1-based and
    inclusive, as in DML. An absent optional argument is a value of type `none`.

    An operation that can fail has no memory effect but is not speculatable: unused it may vanish, but it is never
    hoisted to where it would not have run.
  }];
  let cppNamespace = "::tokamak::tok";
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{ void registerTypes(); }];
}

class Tok_Type<string name, string typeMnemonic> : TypeDef<Tok_Dialect, name> {
  let mnemonic = typeMnemonic;
}
def Tok_String : Tok_Type<"String", "string"> { let summary = "a text"; }
def Tok_Scalar : Tok_Type<"Scalar", "scalar"> {
  let summary = "a scalar whose type (i64, f64, i1, string) is known only at run time";
}
def Tok_List : Tok_Type<"List", "list"> { let summary = "a list of values, by position or name"; }
def Tok_Frame : Tok_Type<"Frame", "frame"> { let summary = "a table whose columns have types of their own"; }

def Tok_Tensor : Type<CPred<"::tokamak::tok::isArray($_self) && ::tokamak::tok::elementTypeOf($_self)">,
                      "an array of f64, f32, f16, bf16, i8 to i64, ui8 to ui64 or i1", "::mlir::TensorType">;
defvar Tok_Value = AnyType;

class Tok_Op<string mnemonic, list<Trait> traits = []> : Op<Tok_Dialect, mnemonic, traits>;

// No memory effect and can't fail: may be hoisted, merged (CSE) and removed (DCE).
class Tok_PureOp<string mnemonic, list<Trait> traits = []> : Tok_Op<mnemonic, !listconcat(traits, [Pure])>;

// No memory effect but can fail: may be merged and removed, but never executed speculatively.
class Tok_FallibleOp<string mnemonic, list<Trait> traits = []>
    : Tok_Op<mnemonic, !listconcat(traits, [NoMemoryEffect])>;

// Executed by a native of the same name and fallible; all operands are generic, and the result type
// is printed.
class Tok_NativeOp<string mnemonic, list<Trait> traits = []>
    : Tok_Op<mnemonic, !listconcat(traits, [Tok_NativeInterface])> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
class Tok_PureNativeOp<string mnemonic, list<Trait> traits = []>
    : Tok_NativeOp<mnemonic, !listconcat(traits, [NoMemoryEffect])>;

#endif
