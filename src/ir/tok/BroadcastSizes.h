// The sizes of arrays that are broadcast to each other: what they are, as far as it is known, and
// whether it is proved that they don't go together.
//
//   broadcast(Size::constant(1), n)             // n: a dimension of size 1 is repeated
//   mayBroadcast(Size::constant(2), n)          // true, unless n is known to be neither 1 nor 2
#ifndef TOKAMAK_IR_TOK_BROADCASTSIZES_H
#define TOKAMAK_IR_TOK_BROADCASTSIZES_H

#include "ir/tok/Facts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tokamak::tok {

// The size that two operands share: the more precise of the two facts.
Size meet(const Size &a, const Size &b);
llvm::SmallVector<Size, 2> meet(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

// The size of the result of broadcasting two dimensions: a dimension of size 1 is repeated.
Size broadcast(const Size &a, const Size &b);
bool mayBroadcast(const Size &a, const Size &b);
// The same for arrays, whose dimensions are aligned at the last one; a missing dimension has size
// 1. Without dimensions where those of an array are not known.
llvm::SmallVector<Size, 2> broadcast(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

// The same where one array must have all sizes of the result: an array that is not repeated in one
// dimension although the other one is has them all.
llvm::SmallVector<Size, 2> broadcastOne(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);
// Whether part may be repeated to the sizes of whole.
bool mayRepeatTo(const Facts &whole, const Facts &part);

bool mayEqual(const Size &left, const Size &right);
// Whether it holds for the sizes of all dimensions that both arrays have.
bool allAligned(const Facts &a, const Facts &b,
                llvm::function_ref<bool(const Size &, const Size &)> holds);

Size productOf(llvm::ArrayRef<Size> sizes);
// The number of indices in begin:end (both inclusive).
Size rangeLength(const Facts &begin, const Facts &end);

} // namespace tokamak::tok
#endif
