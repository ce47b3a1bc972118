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

std::optional<ElementType> CarriedTensor::scalarType(const ImportedValue &tensor) {
  if (tensor.hasWholeCells())
    return tensor.isScalar ? std::optional(ElementType::I64) : std::nullopt;
  if (!tensor.array || GraphBuilder::rankOf(tensor.array) != 0)
    return std::nullopt;
  ElementType type = GraphBuilder::elementTypeOf(tensor.array);
  bool isScalar = type == ElementType::I64 || type == ElementType::F64 || type == ElementType::Bool;
  return isScalar ? std::optional(type) : std::nullopt;
}

CarriedTensor::CarriedTensor(NodeImporter &node, LoopWriter &loop, ImportedValue init)
    : node_(node), loop_(loop), scalar_(scalarType(init)) {
  carried_ = loop.carry([&]() -> Value {
    if (scalar_ == ElementType::I64)
      return node.scalarOf(init);
    Value array = arrayOf(init, node.graph());
    return scalar_ ? node.graph().scalarOf(array) : array;
  });
}

void CarriedTensor::setNext(ImportedValue next) {
  if (!next.isTensor())
    node_.refuse("a loop that carries a tensor in one iteration and a sequence in another");
  if (scalar_ == ElementType::I64 && scalar_ == scalarType(next))
    return loop_.setNext(carried_, node_.scalarOf(next));
  Value array = arrayOf(next, node_.graph());
  if (scalar_ && scalar_ == scalarType(next))
    return loop_.setNext(carried_, node_.graph().scalarOf(array));
  if (scalar_ || array.getType() != carried_.getType())
    node_.refuse(fmt::format("a loop that carries {} in one iteration and {} in the next",
                             scalar_ ? fmt::format("{} of 0 dimensions", nameOf(*scalar_))
                                     : describeArray(carried_.getType()),
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
