// Each phase, and each step of one that has a name, as an MLIR pass, for tokamak-opt and its tests;
// the pipeline itself calls the phases' functions.
//
//   registerPasses();      // then: tokamak-opt --tok-outline-blocks program.mlir
#ifndef TOKAMAK_PIPELINE_PASSES_H
#define TOKAMAK_PIPELINE_PASSES_H

namespace tokamak::pipeline {

// tok-print-facts, tok-static-phase, tok-fuse{selector=... explain}, tok-lower-to-image, and a pass
// tok-NAME for each pass NAME of StaticPasses.h and each rule NAME of rewrite/BlockRules.h.
void registerPasses();

} // namespace tokamak::pipeline
#endif
