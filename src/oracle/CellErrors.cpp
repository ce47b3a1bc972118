#include "oracle/CellErrors.h"

#include "reference/TensorMeaning.h"

#include <algorithm>

namespace tokamak::oracle {

using runtime::Array;

CellErrors::CellErrors(std::vector<double> cells) : cells_(std::move(cells)) {
  if (std::all_of(cells_.begin(), cells_.end(), [](double error) { return error == 0; }))
    cells_.clear();
}

CellErrors CellErrors::uniform(int64_t cells, double error) {
  return CellErrors(std::vector<double>(cells, error));
}

ErrorModel ErrorModel::of(ElementType type) {
  ErrorModel model;
  switch (type) {
  case ElementType::F32:
    model.roundoff = 0x1p-24;
    model.largest = std::numeric_limits<float>::max();
    model.lowestExponent = -149;
    break;
  case ElementType::F16:
    model.roundoff = 0x1p-11;
    model.largest = 65504;
    model.lowestExponent = -24;
    break;
  case ElementType::BF16:
    model.roundoff = 0x1p-8;
    model.largest = 0x1.fep127;
    model.lowestExponent = -133;
    break;
  default:
    break;
  }
  model.type = type;
  return model;
}

CellView::CellView(const runtime::Value &value) : cells_(&number_) {
  if (!value.isArray()) {
    number_ = value.asDouble();
    return;
  }
  array_ = Array::withElementType(Array::asDense(value.array()), ElementType::F64);
  cells_ = array_->data();
  count_ = array_->cells();
  shape_ = array_->shape();
  int rank = shape_.rank();
  columns_ = rank > 0 ? shape_[rank - 1] : 1;
  rows_ = columns_ > 0 ? count_ / columns_ : (rank == 2 ? array_->rows() : 0);
  scalar_ = false;
}

int64_t CellView::broadcast(int64_t cell, const CellView &result) const {
  if (count_ == result.count_)
    return cell;
  return count_ == 1 ? 0 : reference::broadcastCell(result.shape_, shape_, cell);
}

} // namespace tokamak::oracle
