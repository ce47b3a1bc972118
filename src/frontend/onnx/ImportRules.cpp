#include "frontend/onnx/ImportRules.h"

#include "llvm/ADT/StringMap.h"

using namespace tokamak;
using namespace tokamak::onnx;

static llvm::ArrayRef<ImportRule> (*const subjects[])() = {
    cellRules,        shapeRules,        reductionRules, productRules,   normalisationRules,
    convolutionRules, poolRules,         padRules,       resizeRules,    quantisationRules,
    lossRules,        scatterRules,      orderRules,     einsumRules,    signalRules,
    samplingRules,    ngramRules,        trainingRules,  attentionRules, controlFlowRules,
    scanRules,        recurrentRules,    sequenceRules,  treeRules,      conversionRules,
    linearModelRules, linearAlgebraRules};

std::vector<const ImportRule *> onnx::allImportRules() {
  std::vector<const ImportRule *> rules;
  for (auto *subject : subjects)
    for (const ImportRule &rule : subject())
      rules.push_back(&rule);
  return rules;
}

const ImportRule *onnx::findImportRule(llvm::StringRef opType, int64_t version) {
  static const llvm::StringMap<std::vector<const ImportRule *>> index = [] {
    llvm::StringMap<std::vector<const ImportRule *>> rules;
    for (const ImportRule *rule : allImportRules())
      rules[rule->opType].push_back(rule);
    return rules;
  }();
  const ImportRule *newest = nullptr;
  auto found = index.find(opType);
  if (found != index.end())
    for (const ImportRule *rule : found->second)
      if (rule->version <= version && (!newest || rule->version > newest->version))
        newest = rule;
  return newest;
}
