// The cells of a tensor, wherever its file keeps them: as raw bytes, in one of the fields with
// numbers, or in another file.
//
//   TensorCells cells(tensor, &external);
//   std::vector<std::byte> floats(cells.count() * byteSize(*cells.elementType()));
//   cells.copyTo(floats.data());
//
// Cells of types that Tokamak doesn't have are widened to the narrowest type that holds all of their
// numbers exactly (DataType.h); whoever doesn't want that looks at `tensor.dataType` first. A
// complex number is two cells, its real part first.
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_TENSORCELLS_H
#define TOKAMAK_FRONTEND_ONNX_FILE_TENSORCELLS_H

#include "frontend/onnx/file/ExternalData.h"
#include "frontend/onnx/file/Model.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tokamak::onnx {

// The product of sizes; nothing if one is negative or it is beyond 2^63 - 1. A size of 0 makes it 0
// whatever the others are.
std::optional<int64_t> productOf(const std::vector<int64_t> &sizes);

class TensorCells {
public:
  // Checks everything, so that nothing fails later: type, shape, that the cells stand in one place
  // that is right for the type, that they are as many as the shape says and fit their type. Throws
  // Error with what is wrong, for a caller who knows where the tensor stands. `external` may be null
  // for files that must not name others.
  TensorCells(const Tensor &tensor, ExternalData *external);

  // How many cells copyTo writes, or strings() gives.
  int64_t count() const { return count_; }
  // The type of the cells that copyTo writes; nothing if they are strings.
  std::optional<ElementType> elementType() const { return widenedElementTypeOf(tensor_.dataType); }

  // Writes count() cells, which need no alignment.
  void copyTo(std::byte *to) const;

  // The cells where they are, if they need not be converted; they are mostly not aligned. Empty if
  // there are none or copyTo has work to do.
  std::string_view inPlace() const;

  // The strings of a tensor of strings, views into the file.
  std::vector<std::string_view> strings() const;

private:
  void checkTyped() const;
  void takeRaw(ExternalData *external);

  const Tensor &tensor_;
  std::string_view raw_; // unless the cells are in typed fields
  int64_t elements_ = 0; // complex numbers count once
  int64_t count_ = 0;
};

} // namespace tokamak::onnx
#endif
