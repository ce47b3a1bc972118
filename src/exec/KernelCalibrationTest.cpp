#include "exec/KernelCalibration.h"

#include "exec/NativeCalibration.h"

#include <gtest/gtest.h>

using namespace tokamak;

// A figure that keeps its first value was not measured.
TEST(KernelCalibration, measuresEveryFigureOfKernelsAndNatives) {
  cost::MachineModel model;
  double cost::MachineModel::*figures[] = {
      &cost::MachineModel::productsPerNanosecond,
      &cost::MachineModel::singleProductsPerNanosecond,
      &cost::MachineModel::narrowSingleProductsPerNanosecond,
      &cost::MachineModel::productResultNanoseconds,
      &cost::MachineModel::streamBytesAhead,
      &cost::MachineModel::singleStreamBytesAhead,
      &cost::MachineModel::compactRowSlowness,
      &cost::MachineModel::compactSumAdditions,
      &cost::MachineModel::compactExtremeAdditions,
      &cost::MachineModel::maskedVectorNanoseconds,
      &cost::MachineModel::narrowWriteAdditions,
      &cost::MachineModel::entryAdditions,
      &cost::MachineModel::nearestGatherNanoseconds,
      &cost::MachineModel::scatterNanoseconds,
      &cost::MachineModel::nativeEntryNanoseconds,
      &cost::MachineModel::nativeProductsPerNanosecond,
      &cost::MachineModel::singleNativeProductsPerNanosecond,
      &cost::MachineModel::nativeConvolutionsPerNanosecond,
      &cost::MachineModel::singleNativeConvolutionsPerNanosecond,
      &cost::MachineModel::packedCellNanoseconds,
      &cost::MachineModel::singlePackedCellNanoseconds,
      &cost::MachineModel::windowCellNanoseconds,
      &cost::MachineModel::nativeCellSlowness,
      &cost::MachineModel::nativeSortSlowness,
      &cost::MachineModel::nativeSolveSlowness};
  constexpr double unmeasured = 12345;
  for (auto figure : figures)
    model.*figure = unmeasured;
  exec::measureKernels(model, 1, 1);
  exec::measureNatives(model, 1);
  for (const auto &figure : figures) {
    EXPECT_NE(model.*figure, unmeasured) << "figure " << &figure - figures;
    EXPECT_GE(model.*figure, 0) << "figure " << &figure - figures;
  }
}
