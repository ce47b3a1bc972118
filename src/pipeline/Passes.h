// Every phase as an MLIR pass of its own, for tokamak-opt and its tests; the pipeline itself calls
// the functions.
//
//   tokamak-opt --tok-outline-blocks program.mlir
#ifndef TOKAMAK_PIPELINE_PASSES_H
#define TOKAMAK_PIPELINE_PASSES_H

namespace tokamak::pipeline {

// tok-print-facts, tok-check-facts, tok-fold-facts, tok-outline-blocks, tok-decompose-aggregates,
// tok-aggregate-vectors, tok-fuse{selector=...}, tok-static-phase, tok-lower-to-image.
void registerPasses();

} // namespace tokamak::pipeline
#endif
