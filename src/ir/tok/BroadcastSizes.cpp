#include "ir/tok/BroadcastSizes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tokamak;
using namespace tokamak::tok;

static const Size one = Size::constant(1);

Size tok::meet(const Size &a, const Size &b) {
  if (a.isConstant() || b.isUnknown())
    return a;
  return b.isConstant() || a.isUnknown() ? b : a;
}
SmallVector<Size, 2> tok::meet(ArrayRef<Size> a, ArrayRef<Size> b) {
  if (a.empty() || b.empty())
    return SmallVector<Size, 2>(a.empty() ? b : a);
  SmallVector<Size, 2> dims(a);
  for (auto [left, right] : llvm::zip(dims, b))
    left = meet(left, right);
  return dims;
}

Size tok::broadcast(const Size &a, const Size &b) {
  if (a.isConstant(1) || a.provedEqual(b))
    return b;
  if (b.isConstant(1))
    return a;
  bool isLeft = a.provedDifferent(one), isRight = b.provedDifferent(one);
  if (isLeft && isRight)
    return meet(a, b);
  return isLeft ? a : isRight ? b : Size::unknown();
}
bool tok::mayBroadcast(const Size &a, const Size &b) {
  return !a.provedDifferent(b) || !a.provedDifferent(one) || !b.provedDifferent(one);
}
SmallVector<Size, 2> tok::broadcast(ArrayRef<Size> a, ArrayRef<Size> b) {
  if (a.empty() || b.empty())
    return {};
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<Size, 2> dims(a);
  for (auto [left, right] : llvm::zip(llvm::reverse(dims), llvm::reverse(b)))
    left = broadcast(left, right);
  return dims;
}
bool tok::allAligned(const Facts &a, const Facts &b,
                     llvm::function_ref<bool(const Size &, const Size &)> holds) {
  for (auto [left, right] : llvm::zip(llvm::reverse(a.dims), llvm::reverse(b.dims)))
    if (!holds(left, right))
      return false;
  return true;
}

// The sizes of whole, to which part is repeated: a dimension of part that is not 1 is the same.
static SmallVector<Size, 2> repeatedTo(ArrayRef<Size> whole, ArrayRef<Size> part) {
  SmallVector<Size, 2> dims(whole);
  for (auto [size, own] : llvm::zip(llvm::reverse(dims), llvm::reverse(part)))
    if (own.provedDifferent(one))
      size = meet(size, own);
  return dims;
}
// Whether part is repeated in a dimension, so that only whole can have the sizes of the result.
static bool isRepeated(ArrayRef<Size> whole, ArrayRef<Size> part) {
  return llvm::any_of(llvm::zip(llvm::reverse(whole), llvm::reverse(part)), [](const auto &sizes) {
    return std::get<0>(sizes).provedDifferent(one) && std::get<1>(sizes).isConstant(1);
  });
}
SmallVector<Size, 2> tok::broadcastOne(ArrayRef<Size> a, ArrayRef<Size> b) {
  if (a.empty() || b.empty())
    return {};
  if (a.size() > b.size() || isRepeated(a, b))
    return repeatedTo(a, b);
  if (b.size() > a.size() || isRepeated(b, a))
    return repeatedTo(b, a);
  return broadcast(a, b);
}
bool tok::mayRepeatTo(const Facts &whole, const Facts &part) {
  auto isOne = [](const Size &size) { return !size.provedDifferent(one); };
  size_t added = part.dims.size() > whole.dims.size() && !whole.dims.empty()
                     ? part.dims.size() - whole.dims.size()
                     : 0;
  return llvm::all_of(ArrayRef<Size>(part.dims).take_front(added), isOne) &&
         allAligned(whole, part, [&](const Size &size, const Size &own) {
           return !size.provedDifferent(own) || isOne(own);
         });
}
bool tok::mayEqual(const Size &left, const Size &right) { return !left.provedDifferent(right); }

Size tok::productOf(ArrayRef<Size> sizes) {
  Size product = Size::constant(1);
  for (const Size &size : sizes)
    product = product * size;
  return product;
}

Size tok::rangeLength(const Facts &begin, const Facts &end) {
  return end.integer - begin.integer + 1;
}
