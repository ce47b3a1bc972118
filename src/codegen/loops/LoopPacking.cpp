// Copies of factors that all blocks of a tile read, in the order of their vectors.
#include "codegen/loops/LoopValues.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

void LoopValues::pack(Value value) {
  llvm::SaveAndRestore packing(isPacking_, true);
  for (unsigned chunk = 0; chunk < chunksOf(value); ++chunk) {
    State vectors;
    for (unsigned place = 0; place < placesOf(value); ++place)
      vectors.push_back(compute(value, place, chunk));
    // With zeros behind the last cells: products are computed of whole vectors, and what lay there before may
    // be numbers that processors take long for.
    llvm::SaveAndRestore whole(extent_.mask, Value());
    if (runsOver(value, body_.lastAxis()))
      storeSideBySide(vectors, panelOf(value, 0), chunk);
    else
      store(vectors.front(), panelOf(value, 0), 0, chunk);
  }
}

std::optional<unsigned> LoopValues::axisOfTransposition(Value value, unsigned along) const {
  auto read = value.getDefiningOp<plan::ReadOp>();
  const Access &access = body_.accessOf(read);
  if (body_.entries() || runsOver(value, body_.lastAxis()) || access.hasChecks() ||
      !access.cell.indices.empty() || access.cell.factors[along].isConstant(1))
    return {};
  for (unsigned axis : body_.schedule().innerAxes(value)) {
    const Size &length = body_.axes()[axis];
    bool isShort = length.isConstant() && length.constantValue() < vectors_.width();
    if (axis != along && access.cell.factors[axis].isConstant(1) && !isShort)
      return axis;
  }
  return {};
}

void LoopValues::packTransposed(Value value, unsigned contiguous) {
  llvm::SaveAndRestore packing(isPacking_, true);
  Memory array = arrayOf(value.getDefiningOp<plan::ReadOp>());
  Extent along = extent_;
  auto inVectors = [&](Value first) {
    for (unsigned chunk = 0; chunk < along.chunks; ++chunk) {
      State rows;
      for (int64_t lane = 0; lane < vectors_.width(); ++lane) {
        Value row = vectors_.add(indexOf(*along.axis, 0, chunk), vectors_.integer(lane));
        llvm::SaveAndRestore extent(extent_, Extent{along.places, contiguous, 1, {}});
        inLoop(contiguous, first,
               [&] { inLoop(*along.axis, row, [&] { rows.push_back(load(array, 0, 0)); }); });
      }
      for (auto [number, vector] : llvm::enumerate(vectors_.transpose(rows)))
        inLoop(contiguous, vectors_.add(first, vectors_.integer(number)),
               [&] { store(vector, panelOf(value, 0), 0, chunk); });
    }
  };
  Range range = rangeOf(contiguous);
  Value whole = endOfWhole(range, vectors_.width());
  vectors_.forLoop(range.first, whole, vectors_.width(), inVectors);
  const Size &length = body_.axes()[contiguous];
  if (!length.isConstant() || length.constantValue() % vectors_.width() != 0)
    vectors_.forLoop(whole, range.second, 1,
                     [&](Value index) { inLoop(contiguous, index, [&] { pack(value); }); });
}
