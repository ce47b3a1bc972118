#include "tokamak-fuzz/Engines.h"

#include "api/TensorArrays.h"
#include "exec/Program.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/Precision.h"
#include "ir/tok/RunnableProgram.h"
#include "runtime/image/Executor.h"
#include "tokamak-fuzz/ModelProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <chrono>
#include <map>
#include <sstream>

namespace tokamak::fuzz {
namespace {

// Turns the values that the print statements at the end of a program show into results of main, to
// compare them as values.
void returnPrintedValues(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  mlir::Operation *end = main.front().getTerminator();
  llvm::SmallVector<mlir::Value> values;
  while (mlir::Operation *last = end->getPrevNode()) {
    if (mlir::isa<tok::ConstantOp, tok::ToStringOp>(last)) {
      // Operands of a later print.
      end = last;
      continue;
    }
    auto print = mlir::dyn_cast<tok::PrintOp>(last);
    if (!print || print.getInputs().size() != 1)
      break;
    mlir::Value value = print.getInputs().front();
    if (auto text = value.getDefiningOp<tok::ToStringOp>())
      value = text.getOperand();
    if (!tok::isArray(value.getType()) && !tok::isNumber(value.getType()))
      break;
    values.push_back(value);
    print.erase();
  }
  for (auto text : llvm::make_early_inc_range(main.front().getOps<tok::ToStringOp>()))
    if (text->use_empty())
      text.erase();
  auto terminator = mlir::cast<mlir::func::ReturnOp>(main.front().getTerminator());
  terminator.getOperandsMutable().assign(values);
  main.setType(mlir::FunctionType::get(module.getContext(), {}, terminator.getOperandTypes()));
}

std::string firstMessage(const support::DiagnosticEngine &diagnostics) {
  for (const support::Diagnostic *diagnostic : diagnostics.sorted())
    return diagnostic->message;
  return "no message";
}

} // namespace

bool Script::hasLoopsOrCalls() const {
  auto find = [](mlir::Operation *operation) {
    return mlir::isa<tok::WhileOp, tok::ForOp, tok::ParForOp, tok::CallOp>(operation)
               ? mlir::WalkResult::interrupt()
               : mlir::WalkResult::advance();
  };
  return module_ && mlir::ModuleOp(*module_).walk(find).wasInterrupted();
}

void Script::import(const SourceText &source) {
  if (source.language == Language::Onnx) {
    ModelProgram model = importModelProgram(source.text, context_);
    module_ = std::move(model.module);
    inputs_ = std::move(model.inputs);
    weights_ = std::move(model.weights);
    message_ = std::move(model.refusal);
    return;
  }
  if (source.language == Language::Dml) {
    module_ = frontend::importDml(sources_, "program.dml", source.text, {}, context_, diagnostics_);
    return;
  }
  support::MlirDiagnosticForwarder forwarder(&context_, diagnostics_);
  module_ = mlir::parseSourceString<mlir::ModuleOp>(source.text, &context_, "program.mlir");
  if (module_ && failed(tok::verifyRunnable(*module_)))
    module_ = nullptr;
}

Script::Script(const SourceText &source)
    : context_(mlir::MLIRContext::Threading::DISABLED),
      isModel_(source.language == Language::Onnx) {
  context_.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  context_.printOpOnDiagnostic(false);
  import(source);
  if (!module_ && message_.empty())
    message_ = firstMessage(diagnostics_);
  else if (module_ && source.language != Language::Onnx)
    returnPrintedValues(*module_);
  diagnostics_.clear();
}

mlir::OwningOpRef<mlir::ModuleOp> Script::copy(bool singlePrecision) {
  mlir::OwningOpRef<mlir::ModuleOp> copied(module_->clone());
  if (singlePrecision)
    tok::useSinglePrecision(*copied);
  return copied;
}

static int64_t nanosecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

ReferenceRun Script::runReference(oracle::BoundedOptions options) {
  auto start = std::chrono::steady_clock::now();
  mlir::OwningOpRef<mlir::ModuleOp> module = copy(options.singlePrecision);
  runtime::Scheduler scheduler(1);
  runtime::ExecutionContext context;
  context.scheduler = &scheduler;
  oracle::BoundedInterpreter interpreter(*module, context, options);
  ReferenceRun run;
  std::vector<oracle::Bounded> arguments;
  for (const std::vector<runtime::Value> *values : {&inputs_, &weights_})
    for (runtime::Value &value : api::asReferenceHolds(*values))
      arguments.push_back({std::move(value), {}, {}, {}});
  try {
    run.results = interpreter.call("main", std::move(arguments));
  } catch (const Error &error) {
    // What is never made where operators fuse needs memory here.
    if (error.message().starts_with("out of memory"))
      run.undecided = error.message();
    run.error = error;
  } catch (const oracle::Undecided &undecided) {
    run.undecided = undecided.what();
  }
  run.output = interpreter.output();
  run.sawSparseMatrix = interpreter.sawSparseMatrix();
  run.sawSmallSparseMatrix = interpreter.sawSparseMatrix(/*sizesAreKnown=*/false);
  run.nanoseconds = nanosecondsSince(start);
  return run;
}

// As if inputs had other sizes in other calls, in every second dimension: equal ones change together.
static void expectSizes(mlir::ModuleOp module, const std::vector<runtime::Value> &inputs) {
  auto main = *module.getOps<mlir::func::FuncOp>().begin();
  std::map<int64_t, int64_t> symbols;
  bool changes = false;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    if (!input.isArray())
      continue;
    std::vector<Size> sizes;
    for (int64_t size : input.array()->shape().sizes()) {
      int64_t symbol = symbols.try_emplace(size, symbols.size()).first->second;
      changes = !changes;
      sizes.push_back(changes ? Size::symbol(symbol, -1, {size, size + 64}) : Size::constant(size));
    }
    main.setArgAttr(number, tok::expectedSizesAttributeName,
                    tok::sizesAttribute(module.getContext(), sizes));
  }
}

NativeRun Script::runNative(const Configuration &configuration, TrialResources &resources) {
  auto start = std::chrono::steady_clock::now();
  mlir::OwningOpRef<mlir::ModuleOp> module = copy(configuration.singlePrecision);
  exec::ProgramOptions options;
  options.selector = configuration.selector;
  for (const std::string &name : configuration.disabled)
    options.disabled.insert(name);
  options.machineModel = resources.machineModel;
  options.kernels = &resources.kernels;
  if (configuration.threads > 1)
    options.iterationsBeforeCompiling = 1;

  if (configuration.expectsSizes)
    expectSizes(*module, inputs_);
  NativeRun run;
  std::ostringstream output;
  runtime::ExecutionContext context;
  context.output = &output;
  context.scheduler = &resources.scheduler(configuration.threads);
  std::unique_ptr<exec::Program> program;
  try {
    {
      support::MlirDiagnosticForwarder forwarder(&context_, diagnostics_);
      program = exec::Program::compile(*module, options);
    }
    if (program) {
      program->holdWeights(weights_, context);
      run.results = program->call("main", inputs_, context);
    } else {
      run.rejected = true;
      run.error = Error(firstMessage(diagnostics_));
    }
  } catch (const Error &error) {
    run.error = error;
  }
  diagnostics_.clear();
  run.output = output.str();
  run.times.native = nanosecondsSince(start);
  if (program) {
    const exec::RunCounts &counts = program->counts();
    run.times.specialization = counts.specializationTime;
    run.times.kernels = counts.kernelTime;
    run.times.kernelsCompiled = counts.kernelsCompiled;
    run.times.kernelsReused = counts.kernelsReused;
    run.rules = counts.rules;
  }
  return run;
}

} // namespace tokamak::fuzz
