// Compiles an ONNX model: its graph becomes the function `main`, its inputs and outputs are tensors.
//
//   ModelOptions options{.output = ModelOutput::of("libdigits.a"), .shapes = {"image=?x1x28x28"}, .target = &codegen::x86Target()};
//   options.script.path = "digits.onnx";
//   exec::ObjectKeeper objects;
//   writeModel(compileOnnx(options, objects), options.output);
#ifndef TOKAMAK_AOT_ONNXMODEL_H
#define TOKAMAK_AOT_ONNXMODEL_H

#include "aot/ModelBuilder.h"

namespace tokamak::aot {

// The file is `options.script.path`; it has no entries to choose from and no values to fix. `objects` receives the kernels; it must
// outlive the model. Throws Error, with all that is wrong with the file, each with its node.
Model compileOnnx(const ModelOptions &options, exec::ObjectKeeper &objects);

} // namespace tokamak::aot
#endif
