#include "frontend/onnx/ImportedValue.h"

#include "base/Error.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

Value onnx::arrayOf(ImportedValue &tensor, GraphBuilder &graph) {
  if (!tensor.isTensor())
    throw Error("a sequence or an absent optional, where a tensor is expected");
  if (tensor.array)
    return tensor.array;
  Values cells;
  for (Value cell : *tensor.cells)
    cells.push_back(
        graph.view(graph.matrixOf(cell), tensor.isScalar ? Values() : Values{graph.integer(1)}));
  if (cells.empty())
    cells.push_back(graph.literal(DenseElementsAttr::get(
        RankedTensorType::get({0}, graph.builder().getI64Type()), ArrayRef<int64_t>())));
  return tensor.array = graph.join(cells, 0);
}

ImportedValue *ImportScope::find(StringRef name) {
  if (auto found = own_.find(name); found != own_.end())
    return &found->second;
  for (const ImportScope *scope = outer_; scope; scope = scope->outer_)
    if (auto found = scope->own_.find(name); found != scope->own_.end())
      return &(own_[name] = found->second);
  return nullptr;
}
