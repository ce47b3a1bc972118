#include "codegen/testing/LoopKernelFixture.h"

#include "ir/tok/ElementTypes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

LoopKernelFixture::LoopKernelFixture() {
  context.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
}

plan::OperatorOp LoopKernelFixture::parse(const std::string &text) {
  modules.push_back(parseSourceString<ModuleOp>(text, &context));
  plan::OperatorOp found;
  if (modules.back())
    modules.back()->walk([&](plan::OperatorOp op) { found = op; });
  EXPECT_TRUE(found) << text;
  return found;
}

reference::CellArray LoopKernelFixture::random(const std::string &element,
                                               std::vector<int64_t> sizes, double low,
                                               double high) {
  Type type = parseType(element, &context);
  ElementType cells = *tok::elementTypeOf(type);
  reference::CellArray array{std::move(sizes), {}};
  int64_t count = 1;
  for (int64_t size : array.sizes)
    count *= size;
  std::uniform_real_distribution<double> distribution(low, high);
  for (int64_t i = 0; i < count; ++i) {
    double cell = distribution(generator);
    if (isFloat(cells))
      array.cells.push_back(roundedTo(cells, cell));
    else
      array.integers.push_back(integerOf(cells, std::floor(cell)));
  }
  return array;
}

std::string LoopKernelFixture::difference(const std::vector<reference::CellArray> &results,
                                          const std::vector<reference::CellArray> &expected,
                                          double tolerance) {
  for (auto [number, pair] : llvm::enumerate(llvm::zip(results, expected))) {
    auto &[is, should] = pair;
    if (is.sizes != should.sizes)
      return fmt::format("result {} has other sizes", number);
    if (is.cells.size() != should.cells.size() || is.integers.size() != should.integers.size())
      return fmt::format("result {} has other cells", number);
    for (size_t i = 0; i < should.cells.size(); ++i) {
      double a = is.cells[i], b = should.cells[i];
      bool isEqual =
          std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
          (std::isnan(a) && std::isnan(b)) ||
          (tolerance > 0 && (a == b || std::fabs(a - b) <= tolerance * (1 + std::fabs(b))));
      if (!isEqual)
        return fmt::format("cell {} of result {}: {} instead of {}", i, number, a, b);
    }
    for (size_t i = 0; i < should.integers.size(); ++i)
      if (is.integers[i] != should.integers[i])
        return fmt::format("cell {} of result {}: {} instead of {}", i, number, is.integers[i],
                           should.integers[i]);
  }
  return "";
}

// By which results may differ that are added up in another order.
static double toleranceOfOrder(plan::OperatorOp op) {
  bool isSingle = llvm::any_of(op.getBody().getOps<plan::ReduceOp>(), [](plan::ReduceOp reduce) {
    return reduce.getAccumulator().isF32();
  });
  return isSingle ? 1e-5 : 1e-11;
}

std::vector<reference::CellArray>
LoopKernelFixture::run(plan::OperatorOp op, const Operands &operands, const std::string &schedule) {
  auto plan = compiler.compile(op, schedule);
  EXPECT_TRUE(succeeded(plan)) << schedule;
  if (failed(plan))
    return {};
  std::vector<reference::CellArray> inOneTile;
  for (int64_t tile : {int64_t(1) << 20, int64_t(8), int64_t(24)}) {
    ArrayLaunch launch{operands, tile};
    launch.watchesTiles = true;
    launch.bypassesCaches = tile == 24;
    std::vector<reference::CellArray> results = launch.run(*plan);
    EXPECT_TRUE(launch.guardsIntact) << "tiles of " << tile << "\n" << schedule;
    EXPECT_TRUE(launch.tilesAreDisjoint) << "tiles of " << tile << "\n" << schedule;
    EXPECT_FALSE(launch.hadDenormalOperands) << "tiles of " << tile << "\n" << schedule;
    if (inOneTile.empty())
      inOneTile = results;
    // Where tiles leave partial aggregates, their sizes decide in which order is added up.
    double tolerance = plan->merge ? toleranceOfOrder(op) : 0;
    EXPECT_EQ(difference(results, inOneTile, tolerance), "") << "tiles of " << tile << "\n"
                                                             << schedule;
  }
  return inOneTile;
}

void LoopKernelFixture::check(const std::string &text, const Operands &operands, double tolerance,
                              const std::vector<std::string> &schedules) {
  SCOPED_TRACE(text);
  plan::OperatorOp op = parse(text);
  ASSERT_TRUE(op);
  std::vector<reference::CellArray> byDefault = run(op, operands, "");
  ASSERT_FALSE(byDefault.empty());
  ASSERT_EQ(difference(byDefault, reference::meaningOf(op, operands), tolerance), "");
  bool merges = compiler.compile(op)->merge;
  for (const std::string &schedule : schedules) {
    std::vector<reference::CellArray> results = run(op, operands, schedule);
    bool isOtherOrder = merges || compiler.compile(op, schedule)->merge;
    ASSERT_EQ(difference(results, byDefault, isOtherOrder ? toleranceOfOrder(op) : 0), "")
        << schedule;
  }
}

std::string LoopKernelFixture::refusal(plan::OperatorOp op, const std::string &schedule) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(compiler.compile(op, schedule))) << schedule;
  return message;
}
