// The cells of a sparse tensor that its file lists, and where they stand in the dense tensor; all
// others are zero, or "" in a tensor of strings.
//
//   SparseCells cells(tensor, &external);
//   cells.values().copyTo(values);
//   std::vector<int64_t> where = cells.positions();       // of the dense tensor, row by row
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_SPARSECELLS_H
#define TOKAMAK_FRONTEND_ONNX_FILE_SPARSECELLS_H

#include "frontend/onnx/file/TensorCells.h"

namespace tokamak::onnx {

class SparseCells {
public:
  // Checks everything, as TensorCells does, and that the positions lie in the tensor and ascend.
  SparseCells(const SparseTensor &tensor, ExternalData *external);

  const TensorCells &values() const { return values_; }
  // One for each value, ascending.
  const std::vector<int64_t> &positions() const { return positions_; }

private:
  TensorCells values_;
  std::vector<int64_t> positions_;
};

} // namespace tokamak::onnx
#endif
