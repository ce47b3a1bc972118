#include "frontend/onnx/ConstantTensor.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::onnx;

mlir::DenseElementsAttr onnx::constantTensor(const Tensor &tensor, GraphBuilder &graph,
                                             ExternalData *external) {
  TensorCells cells(tensor, external);
  std::optional<ElementType> element = heldElementTypeOf(tensor.dataType);
  if (!element)
    throw Error(fmt::format("a tensor of {} is not supported yet", nameOf(tensor.dataType)));
  auto type = mlir::RankedTensorType::get(tensor.dims, graph.typeOf(*element));
  auto bytes = static_cast<size_t>(cells.count() * byteSize(*element));
  std::vector<char> copy(bytes);
  cells.copyTo(reinterpret_cast<std::byte *>(copy.data()));
  if (*element != ElementType::Bool)
    return mlir::DenseElementsAttr::getFromRawBuffer(type, copy);
  llvm::SmallVector<bool> truths(copy.begin(), copy.end());
  return mlir::DenseElementsAttr::get(type, truths);
}
