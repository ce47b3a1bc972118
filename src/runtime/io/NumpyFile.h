// Files of NumPy that hold one array each (.npy, versions 1 to 3).
//
//   ArrayPointer image = parseNumpy("image.npy", bytes);
//   FileWriter file("scores.npy");
//   file.write(formatNumpy(scores));
//   file.commit();
//
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Cells are little-endian
// numbers or booleans; bf16, which NumPy doesn't have, is written as f32.
#ifndef TOKAMAK_RUNTIME_IO_NUMPYFILE_H
#define TOKAMAK_RUNTIME_IO_NUMPYFILE_H

#include "runtime/values/Array.h"

#include <string>
#include <string_view>

namespace tokamak::runtime {

// Throws Error, naming the file, if the bytes are no such file, have a type that Tokamak doesn't have, or
// are fewer than the shape says.
ArrayPointer parseNumpy(const std::string &path, std::string_view bytes);

std::string formatNumpy(const ArrayReference &array);

// What stands before the cells of a dense array, whose type NumPy has.
std::string numpyHeader(const Array &array);

} // namespace tokamak::runtime
#endif
