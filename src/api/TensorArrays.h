// Tensors of ONNX as arrays of the runtime.
//
//   runtime::ArrayPointer weight = arrayOf(tensor, &external);
//
#ifndef TOKAMAK_API_TENSORARRAYS_H
#define TOKAMAK_API_TENSORARRAYS_H

#include "frontend/onnx/file/TensorCells.h"
#include "runtime/values/Value.h"

#include <vector>

namespace tokamak::api {

// Copies the cells; narrow ones are widened. Throws Error if they make no sense or are of a type in which Tokamak
// keeps no arrays.
runtime::ArrayPointer arrayOf(const onnx::Tensor &tensor, onnx::ExternalData *external);

// The same without a copy, if the cells need no conversion; they may not be aligned (Array::isAligned). The files of the
// tensor must outlive the array, and stay as they are.
runtime::ArrayPointer arrayOver(const onnx::Tensor &tensor, onnx::ExternalData *external);

// Arrays as arguments of the reference, which holds floats as doubles.
std::vector<runtime::Value> asReferenceHolds(std::vector<runtime::Value> arrays);

} // namespace tokamak::api
#endif
