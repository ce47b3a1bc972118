#include "fusion/select/ArrayBytes.h"

#include "ir/tok/ElementTypes.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

double fusion::bytesPerCell(Value array) {
  return static_cast<double>(byteSize(*tok::elementTypeOf(array.getType())));
}
double fusion::bytesPerEntry(Value array) {
  constexpr double bytesPerColumnNumber = 4;
  return bytesPerCell(array) + bytesPerColumnNumber;
}

double fusion::denseBytesOf(const BlockFacts &facts, Value value) {
  return bytesPerCell(value) * facts.cells(facts.shapeOf(value));
}

double fusion::bytesOf(const BlockFacts &facts, Value value) {
  return facts.isSparse(value) ? bytesPerEntry(value) * facts.entriesOf(value)
                               : denseBytesOf(facts, value);
}

double fusion::bytesOfUnknownSize(ArrayRef<Value> values, const BlockFacts &facts) {
  double bytes = 0;
  bool isKnown = true;
  llvm::SmallPtrSet<Value, 8> seen;
  for (Value value : values) {
    if (!tok::isArray(value.getType()) || !seen.insert(value).second)
      continue;
    bytes += bytesOf(facts, value);
    isKnown &=
        llvm::all_of(facts.sizesOf(value), [](const Size &size) { return size.isConstant(); });
  }
  return isKnown ? 0 : bytes;
}
