#include "frontend/onnx/file/ModelStructure.h"

#include "frontend/onnx/file/GraphStructure.h"
#include "frontend/onnx/file/QuotedName.h"

#include <fmt/format.h>
#include <map>

namespace tokamak::onnx {
namespace {

void verifyVersion(int64_t version, ModelErrors &errors) {
  if (version < oldestIrVersion || version > newestIrVersion)
    errors.add("", fmt::format("its IR version is {}; those from {} to {} are known", version,
                               oldestIrVersion, newestIrVersion));
}

// Leaves the highest version of each domain.
void verifyOperatorSets(std::vector<OperatorSet> &sets, const std::string &place,
                        ModelErrors &errors) {
  std::map<std::string_view, int64_t> versions;
  for (const OperatorSet &set : sets) {
    auto [position, isNew] = versions.try_emplace(set.domain, set.version);
    position->second = std::max(position->second, set.version);
  }
  sets.clear();
  for (auto [domain, version] : versions) {
    bool isKnown = version >= 1 && (!domain.empty() || version <= newestOperatorSet);
    if (!isKnown && domain.empty())
      errors.add(place, fmt::format("its operators are of opset {}; those from 1 to {} are known",
                                    version, newestOperatorSet));
    else if (!isKnown)
      errors.add(place,
                 fmt::format("its operators of domain {} are of opset {}; versions begin at 1",
                             quotedName(domain), version));
    sets.push_back({domain, version});
  }
  if (sets.size() > mostDomains)
    errors.add(place, fmt::format("it has operators of {} domains; at most {} are accepted",
                                  sets.size(), mostDomains));
}

} // namespace

void verifyStructure(Model &model, ExternalData *external, ModelErrors &errors) {
  bool isEmpty = model.irVersion == 0 && model.graph.nodes.empty() && model.operatorSets.empty();
  if (isEmpty)
    return errors.add("", "it is no ONNX model: it has neither an IR version nor nodes");
  verifyVersion(model.irVersion, errors);
  verifyOperatorSets(model.operatorSets, "", errors);
  FunctionCalls calls(model.functions);
  for (Function &function : model.functions) {
    verifyOperatorSets(function.operatorSets, placeOf(function), errors);
    if (!errors.areEnough())
      GraphStructure(function.operatorSets, &function, calls, external, errors)
          .verifyBody(function);
  }
  GraphStructure(model.operatorSets, nullptr, calls, external, errors).verify(model.graph);
  calls.verify(errors);
}

} // namespace tokamak::onnx
