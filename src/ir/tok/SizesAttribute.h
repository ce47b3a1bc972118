// Sizes in the text of programs: an array of integers, and of strings in the serialised form of
// sizes (base/Size.h).
//
//   auto attribute = sizesAttribute(context, {Size::symbol(0, 500), Size::constant(10)});
//   sizesOf(attribute)        // these two sizes
//
// In MLIR:
//
//   %X: tensor<?x?xf64> {tok.sizes = ["s0~500", 10]}   // an argument of 10 columns
#ifndef TOKAMAK_IR_TOK_SIZESATTRIBUTE_H
#define TOKAMAK_IR_TOK_SIZESATTRIBUTE_H

#include "base/Size.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tokamak::tok {

// Attribute of a function's argument: the sizes of an array, or the value of an integer scalar.
inline constexpr llvm::StringLiteral sizesAttributeName = "tok.sizes";
// The same where nothing may rely on it: sizes that calls are going to have. Those that are the same in all of
// them are constants, others have symbols.
inline constexpr llvm::StringLiteral expectedSizesAttributeName = "tok.expected_sizes";

mlir::ArrayAttr sizesAttribute(mlir::MLIRContext *context, llvm::ArrayRef<Size> sizes);
// nullopt if the attribute is no list of known sizes.
std::optional<llvm::SmallVector<Size>> sizesOf(mlir::Attribute attribute);

} // namespace tokamak::tok
#endif
