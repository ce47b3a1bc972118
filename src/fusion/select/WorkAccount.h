// Adds up the work of an operator in a frame: what its members compute, what reading its operands and storing its results
// takes. For operators with a driver, the driver's entries are counted instead of cells; natives are counted, too.
//
//   WorkAccount account(facts, machine, frame, hasExpensive);
//   account.addMember(node, additions, verdict, isRowRead);
//   account.addResult(node.result());
//   cost::nanoseconds(machine, account.work)
#ifndef TOKAMAK_FUSION_SELECT_WORKACCOUNT_H
#define TOKAMAK_FUSION_SELECT_WORKACCOUNT_H

#include "cost/MachineModel.h"
#include "fusion/explore/MemoTable.h"

namespace tokamak::fusion {

// How many points the axes have that a value of this shape runs over in the frame.
double pointsOf(const BlockFacts &facts, const Frame &frame, Axes axes, const Shape &shape);

class WorkAccount {
public:
  WorkAccount(const BlockFacts &facts, const cost::MachineModel &machine, const Frame &frame,
              bool hasExpensive)
      : facts_(facts), machine_(machine), frame_(frame), hasExpensive_(hasExpensive),
        entries_(frame.driver ? facts.entriesOf(frame.driver) : 0),
        isCompact_(!frame.isNative && frame.loops <= Loops::Rows && !frame.driver &&
                   plan::hasFewPlaces({frame.space.rows, frame.space.columns})),
        isNarrow_(frame.loops == Loops::Rows && frame.space.columns.isConstant() &&
                  frame.space.columns.constantValue() <= plan::mostColumnsAcross) {}

  cost::Work work;

  //===- what a member computes --------------------------------------------------------------===//

  // `isRowRead`: an operator with this product at entries has the row of its factor in the nearest cache.
  void addMember(const Node &node, double additions, const Verdict &verdict, bool isRowRead);

  //===- what an operator reads and writes ---------------------------------------------------===//

  // Adds the cost of reading an operand, and of converting it if the frame can't read its layout.
  void addOperand(const Node &node, mlir::Value operand);

  void addResult(mlir::Value result);

private:
  // A pass over an array, while nothing else is done.
  void addConversion(const cost::Work &pass);

  double cells(mlir::Value value) const { return facts_.cells(facts_.shapeOf(value)); }

  // The multiplications of a product m×k times k×n.
  double multiplications(const Node &node) const;

  double waitingFor(AggregateKind kind) const;

  // Of writing cells like this value's along wide rows, of which several vectors at a time are computed.
  void addEndsOfRows(mlir::Value value);

  // Whether compact loops compute rows one by one, so that a cell takes as long as a vector.
  bool hasRowsAlone() const;

  // How many times as long as in full vectors a cell takes that is computed along these axes.
  double slownessOf(Axes over, const Node &node, const Shape &shape) const;

  // The same of windows: kernels read the rows of all channels where they lie, which the first-level cache may not hold,
  // and cells of neighbouring windows that are apart one by one.
  double slownessOfWindows(const Node &node) const;

  static double lanesOf(const Node &node);

  // The last vector of a row may have few cells.
  double slownessOfRows(const Size &columns, double lanes) const;

  // Nanoseconds of `accesses` accesses to cells in an array of so many bytes.
  double gatheringOf(double accesses, double arrayBytes) const;

  bool areIndicators() const;
  double rowsWithEntries() const;

  double bytesAtEntries(mlir::Value operand) const;

  // Of a cell for each entry, in vectors along the rows.
  double gatheringInVectors(double arrayBytes) const;

  // The same of rows with this number of columns of the array's element type.
  double gatheringOfRows(double accesses, mlir::Value array, const Size &columns) const;

  // Products of several columns are computed in tiles of registers; others like a sum.
  double additionsOfMultiplying(const Node &node, double additionsInTiles) const;

  // Of the vectors of a symmetric matrix of n columns, those that end behind the diagonal.
  static double upperShare(double n, double lanes);

  void addProduct(const Node &node, double additionsInTiles);

  // In loops over any axes the right factor is read again for each panel of rows, from the caches of all cores if that of one
  // does not hold it. Long rows of it, and those that are read as columns, are copied for each tile before, in the order of
  // their vectors.
  void addFactor(const Node &node);

  // The column index of an entry selects a row of the other factor, or of the result.
  void addProductAtEntries(const Node &node, const Verdict &verdict, bool isRowRead);

  // Whether the native computes this transposed product without packing its factors.
  bool isUnpacked(const Node &node) const;

  // Of the result of a product that is not packed, in all tiles that are computed.
  double cellsInTiles(mlir::Value left, mlir::Value right) const;

  void addNative(const Node &node, double additions);

  double nativeProduct(const Node &node, double multiplications) const;
  double packing(const Node &node, double cells) const;

  const BlockFacts &facts_;
  const cost::MachineModel &machine_;
  const Frame &frame_;
  bool hasExpensive_; // the frame allows an operator of many instructions, or a product of rows
  double entries_;    // of the driver
  bool isCompact_, isNarrow_; // loops over few places; over rows of at most mostColumnsAcross
};

} // namespace tokamak::fusion
#endif
