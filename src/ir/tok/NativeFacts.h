// What follows for operations of `tok` from the table of natives (base/Natives.def): the sizes of
// their results, and which operands and results tok.native may have.
//
//   if (const NativeRow *native = nativeRowOf(op))        // null: op is not executed by a native
//     bool failsOrNot = native->effect == NativeEffect::Fallible;
#ifndef TOKAMAK_IR_TOK_NATIVEFACTS_H
#define TOKAMAK_IR_TOK_NATIVEFACTS_H

#include "base/Natives.h"
#include "ir/tok/Facts.h"

#include "mlir/IR/Operation.h"

namespace tokamak::tok {

// Null for operations that no native executes, and for names of natives that don't exist.
const NativeRow *nativeRowOf(mlir::Operation *op);

void inferNativeFacts(mlir::Operation *op, llvm::ArrayRef<Facts> operands,
                      llvm::MutableArrayRef<Facts> results);

// Reports a native that does not exist, and types that are not those of its signature.
llvm::LogicalResult verifyNative(mlir::Operation *op);

} // namespace tokamak::tok
#endif
