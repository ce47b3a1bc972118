// Models of conformance cases that were changed somewhere: fields removed, repeated and exchanged, numbers and names
// replaced, inputs of other sizes and types, nodes wrapped in graphs.
//
//   ModelMutator mutator({"/usr/share/libonnx-testdata/data/node"});
//   SourceText model = mutator.mutated(42);
//
// Most of them are no models any more: they have to be refused. The others have to give the same on all engines.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELMUTATOR_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELMUTATOR_H

#include "tokamak-fuzz/MessageTree.h"
#include "tokamak-fuzz/SourceText.h"

#include <functional>
#include <string>
#include <vector>

namespace tokamak::fuzz {

class ModelMutator {
public:
  // Reads all cases in the folders: FOLDER/*/model.onnx and FOLDER/*/test_data_set_0/input_N.pb. Throws Error if
  // there are none.
  explicit ModelMutator(const std::vector<std::string> &folders);

  // The same seed gives the same model.
  SourceText mutated(uint64_t seed) const;

private:
  std::vector<Field> models_; // with their values
};

// Takes away fields, as long as what is left still fails.
std::string shrinkModel(const std::string &model,
                        const std::function<bool(const std::string &)> &fails);

} // namespace tokamak::fuzz
#endif
