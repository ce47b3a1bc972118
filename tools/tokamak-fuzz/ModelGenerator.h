// Random ONNX models: graphs of typed nodes, with values for their inputs (ModelProgram.h).
//
//   SourceText model = generateModel(42);
//
// Most operators of the standard occur, over arrays of no to five dimensions with sizes from 0 to 64, of all types of
// which Tokamak keeps arrays. Inputs say their sizes, names for them, or nothing.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELGENERATOR_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELGENERATOR_H

#include "tokamak-fuzz/SourceText.h"

namespace tokamak::fuzz {

// The same seed gives the same model.
SourceText generateModel(uint64_t seed);

} // namespace tokamak::fuzz
#endif
