// What every later stage relies on in a model, beyond its bytes being protobuf:
//
// * versions of the IR and of the standard's operators that are known, and a version for the domain
//  of each node (the highest, where a domain is listed twice: afterwards each is listed once);
// * each name is defined once in its graph: by an input, an initializer or a node. Graphs in
//  attributes see the names of the graphs around them and don't give them to other values; only
//  their inputs may (they are parameters, and exporters name them so);
// * nodes stand behind those whose results they need: a graph whose file has another order is sorted;
// * attributes are of one kind, tensors have the cells that their shapes say, types have elements;
// * functions don't call themselves, neither deeply nor so often that their nodes are too many, and
//  references to attributes stand in functions that have them.
//
//   ModelErrors errors("model.onnx");
//   verifyStructure(model, &external, errors);
//   errors.throwIfAny();
//
// A node's input "" is absent; so is its output.
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_MODELSTRUCTURE_H
#define TOKAMAK_FRONTEND_ONNX_FILE_MODELSTRUCTURE_H

#include "frontend/onnx/file/ExternalData.h"
#include "frontend/onnx/file/Model.h"
#include "frontend/onnx/file/ModelErrors.h"

namespace tokamak::onnx {

// What is known. Operators of other domains have versions of their own.
constexpr int64_t oldestIrVersion = 3, newestIrVersion = 14, newestOperatorSet = 28;

// A model may import the operators of this many domains.
constexpr size_t mostDomains = 256;

// Adds all mistakes to `errors` (as many as these take), and sorts the nodes of graphs. `external`
// may be null where the model must not name other files; else those are opened and mapped.
void verifyStructure(Model &model, ExternalData *external, ModelErrors &errors);

} // namespace tokamak::onnx
#endif
