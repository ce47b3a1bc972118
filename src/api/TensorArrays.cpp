#include "api/TensorArrays.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace tokamak;
using runtime::Array;
using runtime::ArrayPointer;

static ElementType elementTypeOf(const onnx::Tensor &tensor) {
  std::optional<ElementType> element = onnx::heldElementTypeOf(tensor.dataType);
  if (!element)
    throw Error(
        fmt::format("cells of type {} are not supported yet", onnx::nameOf(tensor.dataType)));
  return *element;
}

static runtime::Shape shapeOf(const onnx::Tensor &tensor) {
  return runtime::Shape(std::span<const int64_t>(tensor.dims));
}

ArrayPointer api::arrayOf(const onnx::Tensor &tensor, onnx::ExternalData *external) {
  onnx::TensorCells cells(tensor, external);
  ArrayPointer array = Array::create(shapeOf(tensor), elementTypeOf(tensor));
  cells.copyTo(array->mutableBytes());
  return array;
}

ArrayPointer api::arrayOver(const onnx::Tensor &tensor, onnx::ExternalData *external) {
  std::string_view cells = onnx::TensorCells(tensor, external).inPlace();
  if (cells.empty())
    return arrayOf(tensor, external);
  return Array::over(shapeOf(tensor), elementTypeOf(tensor),
                     reinterpret_cast<const std::byte *>(cells.data()));
}

std::vector<runtime::Value> api::asReferenceHolds(std::vector<runtime::Value> arrays) {
  runtime::alignArrays(arrays);
  for (runtime::Value &array : arrays)
    if (isFloat(array.array()->elementType()))
      array = Array::withElementType(array.array(), ElementType::F64);
  return arrays;
}
