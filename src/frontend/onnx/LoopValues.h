// What the loops of a model carry from one iteration to the next, and what they give.
//
//   LoopWriter loop(node.graph());
//   CarriedTensor state(node, loop, node.value(0));
//   state.setNext(node.importGraph("body", {state.value()}).front());
//   node.setValue(0, state.result(loop.finishCounted(count)));
//
#ifndef TOKAMAK_FRONTEND_ONNX_LOOPVALUES_H
#define TOKAMAK_FRONTEND_ONNX_LOOPVALUES_H

#include "frontend/onnx/ControlFlowBuilder.h"
#include "frontend/onnx/NodeImporter.h"

namespace tokamak::onnx {

// "f32 of 2 dimensions"
std::string describeArray(mlir::Type type);

// A tensor that a loop carries. Integers without dimensions are scalars of the program, so that they stay known by
// cells, and so are doubles and booleans; other arrays keep their rank and type, while their sizes may change.
class CarriedTensor {
public:
  // The builder stands in the loop's body.
  CarriedTensor(NodeImporter &node, LoopWriter &loop, ImportedValue init);

  // What it is in an iteration.
  ImportedValue value() const { return formed(carried_); }
  // What it is in the next one. Throws Error if this has another rank or type.
  void setNext(ImportedValue next);
  // What it is at last, given the results of the loop.
  ImportedValue result(llvm::ArrayRef<mlir::Value> results) const {
    return formed(results[LoopWriter::placeOf(carried_)]);
  }

private:
  // Null if it is carried as an array.
  static std::optional<ElementType> scalarType(const ImportedValue &tensor);
  ImportedValue formed(mlir::Value value) const {
    if (!scalar_)
      return ImportedValue::ofArray(value);
    return *scalar_ == ElementType::I64
               ? ImportedValue::ofCells({value}, true)
               : ImportedValue::ofArray(node_.graph().arrayOfScalar(value));
  }

  NodeImporter &node_;
  LoopWriter &loop_;
  mlir::Value carried_;
  std::optional<ElementType> scalar_;
};

// The sizes that the model says an output of a body has: what stands behind the number of iterations if there are
// none. Sizes that it doesn't say are 0.
Numbers sizesWithoutIterations(const ValueInfo &output);

} // namespace tokamak::onnx
#endif
