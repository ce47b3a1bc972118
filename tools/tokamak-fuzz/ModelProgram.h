// An ONNX model as a program that both engines call. Its file holds the values that go in, too: as weights with the
// names of inputs, which the format has for defaults.
//
//   ModelProgram model = importModelProgram(bytes, context);
//   native.holdWeights(model.weights, execution);
//   native.call("main", model.inputs, execution);
//
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELPROGRAM_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELPROGRAM_H

#include "runtime/values/Value.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace tokamak::fuzz {

struct ModelProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module; // null if the model was refused
  std::vector<runtime::Value> inputs;       // of main, followed by
  std::vector<runtime::Value> weights;
  std::string refusal; // why
};

// Values are parameters of the program, except those that decide ranks. Throws Error for bugs only: where an error is
// internal, or does not begin with the path of the model.
ModelProgram importModelProgram(const std::string &bytes, mlir::MLIRContext &context);

} // namespace tokamak::fuzz
#endif
