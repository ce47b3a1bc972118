#include "tokamak/TensorArrays.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace tokamak;
using runtime::Array;
using runtime::ArrayPointer;

ArrayPointer tokamak::arrayOf(const onnx::Tensor &tensor, onnx::ExternalData *external) {
  onnx::TensorCells cells(tensor, external);
  std::optional<ElementType> element = onnx::heldElementTypeOf(tensor.dataType);
  if (!element)
    throw Error(
        fmt::format("cells of type {} are not supported yet", onnx::nameOf(tensor.dataType)));
  ArrayPointer array =
      Array::create(runtime::Shape(std::span<const int64_t>(tensor.dims)), *element);
  cells.copyTo(array->mutableBytes());
  return array;
}

std::vector<runtime::Value> tokamak::asReferenceHolds(std::vector<runtime::Value> arrays) {
  for (runtime::Value &array : arrays)
    if (isFloat(array.array()->elementType()))
      array = Array::withElementType(array.array(), ElementType::F64);
  return arrays;
}
