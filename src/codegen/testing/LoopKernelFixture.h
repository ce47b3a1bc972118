// Shared by the tests of loops over any number of axes: random operands, and the comparison of
// kernels under several schedules with what the body means (reference/BodyMeaning.h).
//
//   check(body, {random("f32", {3, 17})}, 1e-5);
//   check(body, operands, 1e-12, {"block 2\nkeep none"});      // the same bits as by default
#ifndef TOKAMAK_CODEGEN_TESTING_LOOPKERNELFIXTURE_H
#define TOKAMAK_CODEGEN_TESTING_LOOPKERNELFIXTURE_H

#include "codegen/testing/BodyText.h"
#include "codegen/testing/KernelLauncher.h"

#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace tokamak::codegen {

class LoopKernelFixture : public ::testing::Test {
protected:
  using Operands = std::vector<reference::CellArray>;
  LoopKernelFixture();

  // The only operator of the text.
  plan::OperatorOp parse(const std::string &text);

  reference::CellArray random(const std::string &element, std::vector<int64_t> sizes,
                              double low = -2, double high = 2);
  reference::CellArray scalar(double value) { return {{}, {value}}; }

  // Compiles the operator with its default schedule and with others, whose lines replace those of the
  // default one, and runs each in one tile and in several. Differences from the meaning are at most
  // tolerance * (1 + |expected|); under all schedules the bits are the same, but for aggregates of
  // tiles, which are added up in another order.
  void check(const std::string &text, const Operands &operands, double tolerance,
             const std::vector<std::string> &schedules = {});
  void check(const BodyText &body, const Operands &operands, double tolerance,
             const std::vector<std::string> &schedules = {}) {
    check(body.text(), operands, tolerance, schedules);
  }

  // The results of a kernel with these lines of a schedule, the same for all sizes of tiles.
  std::vector<reference::CellArray> run(plan::OperatorOp op, const Operands &operands,
                                        const std::string &schedule);
  // The message with which the operator is refused under these lines.
  std::string refusal(plan::OperatorOp op, const std::string &schedule = "");

  // Where the results differ; empty if they don't. A tolerance of 0 requires equal bits (any NaN
  // equals any NaN).
  static std::string difference(const std::vector<reference::CellArray> &results,
                                const std::vector<reference::CellArray> &expected,
                                double tolerance);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::deque<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  CorpusCompiler compiler;
  std::mt19937_64 generator{7};
};

} // namespace tokamak::codegen
#endif
