#include "tokamak-fuzz/ModelGenerator.h"

#include "tokamak-fuzz/ModelGraph.h"
#include "tokamak-fuzz/ModelNodes.h"

namespace tokamak::fuzz {

SourceText generateModel(uint64_t seed) {
  Random random(seed);
  ModelGraph graph(random);
  for (int64_t count = random.between(1, 3); count > 0; --count)
    graph.input(graph.anySizes(), anyDataType(random), {-2, 3});
  for (int64_t count = random.between(1, 12); count > 0; --count)
    addNode(graph);
  return {graph.model(), Language::Onnx};
}

} // namespace tokamak::fuzz
