// What classifiers of ai.onnx.ml make of scores: probabilities, and the label of the largest one.
//
//   Numbers labels = classLabels(node, "classlabels_int64s", "classlabels_strings");
//   node.setResult(0, labelsOf(node.graph(), scores, labels));
//   node.setResult(1, transformed(node.graph(), scores, scoreTransform(node)));
//
#ifndef TOKAMAK_FRONTEND_ONNX_RULES_SCORES_H
#define TOKAMAK_FRONTEND_ONNX_RULES_SCORES_H

#include "frontend/onnx/NodeImporter.h"

namespace tokamak::onnx {

enum class ScoreTransform : uint8_t { None, Softmax, Logistic };

// Of the attribute post_transform. Refuses those that Tokamak doesn't have.
ScoreTransform scoreTransform(const NodeImporter &node);
// Scores are [cases, classes].
mlir::Value transformed(GraphBuilder &graph, mlir::Value scores, ScoreTransform transform);

// The numbers of the attribute; refuses a node that has texts instead, in the attribute `texts`.
Numbers classLabels(const NodeImporter &node, llvm::StringRef attribute, llvm::StringRef texts);
// Of each case, the label at the place of its largest score, of the first one where two are as large: integers [cases].
mlir::Value labelsOf(GraphBuilder &graph, mlir::Value scores, const Numbers &labels);

// The features of cases, [cases, features] as floats: of the operand 0, whose cells may be integers.
mlir::Value casesOf(NodeImporter &node);

// An array of doubles with these sizes.
mlir::Value tableOf(GraphBuilder &graph, llvm::ArrayRef<double> cells,
                    llvm::ArrayRef<int64_t> sizes);

} // namespace tokamak::onnx
#endif
