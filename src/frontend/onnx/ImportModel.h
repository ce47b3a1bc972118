// Translates a model into a module of the `tok` dialect with one function, `main`: its parameters are the
// graph's inputs, followed by the weights that are too large to be numbers in the program, if they aren't to be
// part of it all the same.
//
//   ModelFile file("model.onnx");
//   KnownInputs inputs;
//   ModelErrors errors(file.path());
//   std::optional<ImportedModel> imported = importModel(file, inputs, context, errors);
//   if (!imported)
//     errors.throwIfAny();                  // model.onnx: node 17 'conv1' (Conv, opset 11): …
//
// The location of an operation is (the model's path and the node as messages name it, the node's number + 1, 0),
// which stands for a place in no text (base/PlaceText.h).
#ifndef TOKAMAK_FRONTEND_ONNX_IMPORTMODEL_H
#define TOKAMAK_FRONTEND_ONNX_IMPORTMODEL_H

#include "frontend/onnx/file/ModelErrors.h"
#include "frontend/onnx/file/ModelFile.h"
#include "frontend/onnx/file/Value.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace tokamak::onnx {

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<const ValueInfo *> inputs; // the first parameters: those that are not part of it
  std::vector<const Tensor *> weights;   // those that follow
  // Of which output each result is: a sequence is as many results as it has elements, an absent optional none.
  std::vector<const ValueInfo *> results;
};

// The inputs that need a value: initializers are values already.
std::vector<const ValueInfo *> inputsWithoutValue(const Graph &graph);

// What a model says of shapes may be an input: the axes of a sum, how many dimensions a result has.
struct KnownInputs {
  // Values that are there already, by name. A model may say less of their ranks, or something else. Those
  // that decide ranks become part of the program, which then holds for these values, or for their sizes, alone.
  llvm::StringMap<const Tensor *> values;
  // The same of inputs that are sequences or optionals, which always become part of the program.
  llvm::StringMap<const Value *> lists;
  // Receives the names of inputs that decide ranks: by their cells, and by their sizes.
  llvm::StringSet<> wanted, wantedSizes;
};

// What weights of many cells are: a caller of a model maps them, a script that calls one holds them.
enum class LargeWeights : uint8_t { Parameters, Literals };

// All nodes that can't be imported are reported at once, in place of what `errors` holds; nothing is returned
// then. Loads the dialects that it needs.
std::optional<ImportedModel> importModel(ModelFile &file, KnownInputs &inputs,
                                         mlir::MLIRContext &context, ModelErrors &errors,
                                         LargeWeights weights = LargeWeights::Parameters);

} // namespace tokamak::onnx
#endif
