#include "aot/ModelBuilder.h"

#include "base/Error.h"
#include "exec/Program.h"
#include "ir/tok/TokDialect.h"
#include "pipeline/ExpectedSizes.h"
#include "pipeline/PrepareWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::aot;

const codegen::Target &aot::targetNamed(const std::string &name) {
  if (name == "native")
    return codegen::hostTarget();
  if (name == "x86-64-v3")
    return codegen::x86Target();
  if (name == "x86-64-v4")
    return codegen::wideX86Target();
  if (name == "aarch64")
    return codegen::aarch64Target();
  if (name == "aarch64-v8.2")
    return codegen::laterAArch64Target();
  throw Error(fmt::format(
      "'{}' is none of the targets native, x86-64-v3, x86-64-v4, aarch64, aarch64-v8.2", name));
}

std::string aot::sizeText(const Size &size) {
  if (size.isConstant())
    return std::to_string(size.constantValue());
  auto [low, high] = size.range();
  return size.range() == Size::ofArrays ? "any" : fmt::format("{}..{}", low, high);
}

ModelBuilder::ModelBuilder(const ModelOptions &options, exec::ObjectKeeper &objects)
    : options_(options), kernels_({.target = options.target,
                                   .threads = options.script.program.threads,
                                   .cacheCapacity = SIZE_MAX,
                                   .namePrefix = options.output.name + "_kernel_",
                                   .keepObject = objects.sink()}),
      model_{options.output.name, options.target, &objects, {}} {}

bool ModelBuilder::add(ModelEntry entry, mlir::ModuleOp module) {
  module->setAttr(pipeline::sizesAgreeAttributeName, mlir::UnitAttr::get(module.getContext()));
  exec::ProgramOptions options = options_.script.program;
  options.kernels = &kernels_;
  const bool hasWeights = llvm::any_of(module.getOps<mlir::func::FuncOp>(), [](auto function) {
    return function->hasAttr(tok::weightsAttributeName);
  });
  std::unique_ptr<exec::Program> program = exec::Program::compile(module, options);
  if (!program)
    return false;
  entry.program = program->planAhead();
  const std::vector<runtime::ImageFunction> &functions = entry.program.image.functions;
  auto preparation = llvm::find_if(functions, [](const runtime::ImageFunction &function) {
    return function.name == pipeline::preparationName;
  });
  if (hasWeights && preparation != functions.end())
    entry.preparation = preparation - functions.begin();
  model_.entries.push_back(std::move(entry));
  return true;
}
