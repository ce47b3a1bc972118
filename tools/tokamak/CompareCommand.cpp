#include "tokamak/CompareCommand.h"

#include "api/ErrorDiagnostics.h"
#include "base/PlaceText.h"
#include "codegen/KernelCompiler.h"
#include "exec/Program.h"
#include "ir/tok/TokDialect.h"
#include "oracle/FirstDivergence.h"
#include "pipeline/LowerToImage.h"
#include "runtime/parallel/TileScheduler.h"
#include "support/SourceLocations.h"
#include "tokamak/Commands.h"
#include "tokamak/Reproducer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <set>
#include <sstream>

using namespace tokamak;

namespace {

oracle::BoundedOptions optionsOf(const CommandLine &line) {
  oracle::BoundedOptions options;
  options.singlePrecision = line.singlePrecision;
  options.sparse = true;
  options.zeroRule = line.program.zeroRule;
  return options;
}

class EngineComparison {
public:
  EngineComparison(const CommandLine &line, mlir::MLIRContext &context,
                   runtime::LateFunctions *functions)
      : line_(line), mlirContext_(context), functions_(functions), scheduler_(line.threads),
        kernels_({}) {}

  oracle::Comparison run(mlir::ModuleOp module) {
    runtime::ExecutionContext context = contextOfRun();
    return oracle::firstDivergence(module, context, optionsOf(line_),
                                   [this](mlir::ModuleOp copy) { return runNative(copy); });
  }

private:
  // Uses a fixed seed, so that random numbers without a seed of their own are the same in every
  // run.
  runtime::ExecutionContext contextOfRun() {
    runtime::ExecutionContext context;
    context.output = &dropped_;
    context.scheduler = &scheduler_;
    context.functions = functions_;
    context.seed = line_.seed < 0 ? 1 : line_.seed;
    context.randomNumbers = line_.randomNumbers;
    context.zeroRule = line_.program.zeroRule;
    return context;
  }

  oracle::EngineRun runNative(mlir::ModuleOp module) {
    exec::ProgramOptions options = line_.program;
    options.explain = {};
    options.kernels = &kernels_;
    size_t results =
        module.lookupSymbol<mlir::func::FuncOp>("main").getFunctionType().getNumResults();
    oracle::EngineRun run;
    run.results.resize(results);
    std::string message;
    try {
      mlir::ScopedDiagnosticHandler handler(&mlirContext_, [&](mlir::Diagnostic &diagnostic) {
        if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          message = diagnostic.str();
        return mlir::success();
      });
      std::unique_ptr<exec::Program> program = exec::Program::compile(module, options);
      if (!program)
        throw Error(message);
      runtime::ExecutionContext context = contextOfRun();
      program->run(context, run.results);
    } catch (const Error &error) {
      run.error = error;
    }
    dropped_.str("");
    return run;
  }

  const CommandLine &line_;
  mlir::MLIRContext &mlirContext_;
  runtime::LateFunctions *functions_;
  runtime::Scheduler scheduler_;
  codegen::KernelCompiler kernels_; // shared: programs with other results have mostly the same
  std::ostringstream dropped_;
};

support::Diagnostic describe(const oracle::Divergence &divergence) {
  support::Diagnostic diagnostic = support::diagnosticAt(divergence.location);
  std::string operands = divergence.operands.empty() ? "" : " of " + divergence.operands;
  diagnostic.message = divergence.operation.empty()
                           ? "the engines differ: " + divergence.what
                           : fmt::format("'{}'{} differs from the reference: {}",
                                         divergence.operation, operands, divergence.what);
  if (divergence.onlyTogether)
    diagnostic.note("it is right where every value is kept: the mistake is in how it is compiled "
                    "together with others; try --fusion=none and --disable");
  return diagnostic;
}

std::string describe(const oracle::LeftOutZeros &zeros) {
  SourcePlace place = support::placeOf(zeros.location);
  return fmt::format("note: {}: '{}' has 0 in {} cells where the reference has NaN: zeros of a "
                     "sparse matrix times what is not finite; --strict-zeros computes them\n",
                     lineText(place), zeros.operation, zeros.cells);
}

// The path of a file, where it is written out.
std::optional<std::string> pathOf(mlir::Value path) {
  auto constant = path.getDefiningOp<tok::ConstantOp>();
  auto text = constant ? llvm::dyn_cast<mlir::StringAttr>(constant.getValue()) : mlir::StringAttr();
  return text ? std::optional(std::filesystem::path(text.str()).lexically_normal().string())
              : std::nullopt;
}

void refuseOverwrittenInputs(mlir::ModuleOp module) {
  std::set<std::string> read;
  module.walk([&](tok::ReadOp op) {
    if (auto path = pathOf(op.getPath()))
      read.insert(*path);
  });
  module.walk([&](tok::WriteOp op) {
    auto path = pathOf(op.getPath());
    if (!path || !read.contains(*path))
      return;
    throw Error(fmt::format("--compare runs the program on both engines, and the second one would "
                            "read what the first one writes to '{}'",
                            *path))
        .at(support::placeOf(op.getLoc()));
  });
}

// The engines run one after the other, so the clock stands still for both.
void stopClock(mlir::ModuleOp module) {
  module.walk([](tok::TimeOp op) {
    mlir::OpBuilder builder(op);
    op.replaceAllUsesWith(builder.create<tok::ConstantOp>(op.getLoc(), int64_t{0}).getResult());
    op.erase();
  });
}

} // namespace

int tokamak::compareEngines(mlir::ModuleOp module, const CommandLine &line,
                            runtime::LateFunctions *functions,
                            support::DiagnosticEngine &diagnostics) {
  refuseOverwrittenInputs(module);
  stopClock(module);
  oracle::Comparison comparison =
      EngineComparison(line, *module.getContext(), functions).run(module);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (comparison.failure) {
    std::cout << "both engines fail alike\n";
    diagnostics.render(api::diagnosticOf(*comparison.failure), out, line.color);
    std::cerr << out.str();
    return RunFailed;
  }
  if (!comparison.divergence) {
    std::cout << fmt::format("both engines agree in {} values\n", comparison.values);
    for (const oracle::LeftOutZeros &zeros : comparison.leftOut)
      std::cout << describe(zeros);
    return Success;
  }
  diagnostics.render(describe(*comparison.divergence), out, line.color);
  std::cerr << out.str();
  writeReproducer("the engines differ");
  return InternalFailure;
}
