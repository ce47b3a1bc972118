#include "frontend/onnx/LoopValues.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

std::string onnx::describeArray(mlir::Type type) {
  auto array = cast<RankedTensorType>(type);
  return fmt::format("{} of {} dimensions", nameOf(*tok::elementTypeOf(array)), array.getRank());
}

static bool isOneInteger(const ImportedValue &tensor) {
  if (tensor.hasWholeCells())
    return tensor.isScalar;
  return tensor.array && GraphBuilder::rankOf(tensor.array) == 0 &&
         GraphBuilder::elementTypeOf(tensor.array) == ElementType::I64;
}

CarriedTensor::CarriedTensor(NodeImporter &node, LoopWriter &loop, ImportedValue init)
    : node_(node), loop_(loop), isScalar_(isOneInteger(init)) {
  carried_ =
      loop.carry([&] { return isScalar_ ? node.scalarOf(init) : arrayOf(init, node.graph()); });
}

void CarriedTensor::setNext(ImportedValue next) {
  if (!next.isTensor())
    node_.refuse("a loop that carries a tensor in one iteration and a sequence in another");
  if (isScalar_ && isOneInteger(next))
    return loop_.setNext(carried_, node_.scalarOf(next));
  Value array = arrayOf(next, node_.graph());
  if (isScalar_ || array.getType() != carried_.getType())
    node_.refuse(fmt::format("a loop that carries {} in one iteration and {} in the next",
                             isScalar_ ? "i64 of 0 dimensions" : describeArray(carried_.getType()),
                             describeArray(array.getType())));
  loop_.setNext(carried_, array);
}

Numbers onnx::sizesWithoutIterations(const ValueInfo &output) {
  Numbers sizes;
  if (output.type.shape)
    for (const Dimension &dimension : *output.type.shape) {
      const auto *number = std::get_if<int64_t>(&dimension);
      sizes.push_back(number && *number > 0 ? *number : 0);
    }
  return sizes;
}
