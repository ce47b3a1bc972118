#include "ir/tok/SizesAttribute.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tokamak;

ArrayAttr tok::sizesAttribute(MLIRContext *context, llvm::ArrayRef<Size> sizes) {
  Builder builder(context);
  SmallVector<Attribute> elements;
  for (const Size &size : sizes) {
    assert(!size.isUnknown());
    if (size.isConstant())
      elements.push_back(builder.getI64IntegerAttr(size.constantValue()));
    else
      elements.push_back(builder.getStringAttr(size.text()));
  }
  return builder.getArrayAttr(elements);
}

std::optional<SmallVector<Size>> tok::sizesOf(Attribute attribute) {
  auto elements = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!elements)
    return std::nullopt;
  SmallVector<Size> sizes;
  for (Attribute element : elements) {
    std::optional<Size> size;
    if (auto integer = dyn_cast<IntegerAttr>(element))
      size = Size::constant(integer.getInt());
    else if (auto text = dyn_cast<StringAttr>(element))
      size = Size::parse(text.getValue());
    if (!size || size->isUnknown())
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}
