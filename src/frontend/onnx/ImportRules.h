// How each operator of ONNX is written in operations of `tok`: one table of (operator, first version, rule).
//
//   const ImportRule *rule = findImportRule("Softmax", 11);     // that of version 1, which holds until 12
//   rule->import(node);
//
// A rule holds from its version to the next one's.
#ifndef TOKAMAK_FRONTEND_ONNX_IMPORTRULES_H
#define TOKAMAK_FRONTEND_ONNX_IMPORTRULES_H

#include "frontend/onnx/NodeImporter.h"

namespace tokamak::onnx {

struct ImportRule {
  llvm::StringLiteral opType; // behind its domain and a point, if that is not the standard's own
  int64_t version;            // of the standard's operator set
  void (*import)(NodeImporter &node);
};

// By subject; each is sorted by nothing in particular.
llvm::ArrayRef<ImportRule> cellRules(); // one cell from one cell of each operand
llvm::ArrayRef<ImportRule> conversionRules();
llvm::ArrayRef<ImportRule> shapeRules();     // cells that stay as they are
llvm::ArrayRef<ImportRule> reductionRules(); // one cell from many
llvm::ArrayRef<ImportRule> productRules();
llvm::ArrayRef<ImportRule> normalisationRules();
llvm::ArrayRef<ImportRule> convolutionRules();
llvm::ArrayRef<ImportRule> poolRules();
llvm::ArrayRef<ImportRule> padRules();
llvm::ArrayRef<ImportRule> resizeRules();
llvm::ArrayRef<ImportRule> quantisationRules();
llvm::ArrayRef<ImportRule> lossRules();
llvm::ArrayRef<ImportRule> controlFlowRules();
llvm::ArrayRef<ImportRule> scanRules();
llvm::ArrayRef<ImportRule> recurrentRules();
llvm::ArrayRef<ImportRule> sequenceRules();
llvm::ArrayRef<ImportRule> scatterRules(); // cells at places that are named one by one
llvm::ArrayRef<ImportRule> orderRules();   // cells and parts that their values choose
llvm::ArrayRef<ImportRule> einsumRules();
llvm::ArrayRef<ImportRule> signalRules();
llvm::ArrayRef<ImportRule> samplingRules(); // images at places that are no whole numbers
llvm::ArrayRef<ImportRule> ngramRules();
llvm::ArrayRef<ImportRule> trainingRules();
llvm::ArrayRef<ImportRule> attentionRules();
llvm::ArrayRef<ImportRule> treeRules();
llvm::ArrayRef<ImportRule> linearModelRules();
llvm::ArrayRef<ImportRule> linearAlgebraRules();

// Of all subjects.
std::vector<const ImportRule *> allImportRules();

// Null if there is none. `version` is that of the domain's operator set.
const ImportRule *findImportRule(llvm::StringRef opType, int64_t version);

} // namespace tokamak::onnx
#endif
