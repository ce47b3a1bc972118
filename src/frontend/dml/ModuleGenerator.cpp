#include "frontend/dml/ModuleGenerator.h"

#include "base/Error.h"
#include "frontend/dml/FunctionGenerator.h"
#include "frontend/dml/TraceLineage.h"
#include "frontend/onnx/file/QuotedName.h"
#include "ir/tok/TokDialect.h"

#include "llvm/Support/Path.h"

namespace tokamak::frontend {

ModuleGenerator::ModuleGenerator(ProgramLoader &loader, SourceReporter &reporter,
                                 const ImportOptions &options, mlir::MLIRContext &context)
    : loader_(loader), reporter_(reporter), options_(options), context_(context) {
  context.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
}

mlir::OwningOpRef<mlir::ModuleOp> ModuleGenerator::generate(LoadedFile &main) {
  mlir::Location start = location({main.program->file, 0, 0});
  module_ = mlir::ModuleOp::create(start);
  generateMain(*main.program);

  // Functions that are never called are generated, too, to report their errors, and then erased.
  isReachable_ = false;
  size_t reachable = std::distance(module_->begin(), module_->end());
  for (const auto &definition : main.program->functions) {
    functionFor(*main.functions.at(definition->name));
    checkDefaults(*main.functions.at(definition->name));
  }
  llvm::SmallVector<mlir::Operation *> unreachable;
  for (mlir::Operation &operation : llvm::drop_begin(*module_, reachable))
    unreachable.push_back(&operation);
  for (mlir::Operation *operation : llvm::reverse(unreachable))
    operation->erase();

  return finished();
}

mlir::OwningOpRef<mlir::ModuleOp> ModuleGenerator::finished() {
  if (hasErrors())
    return {};
  traceLineage(*module_);
  return std::move(module_);
}

mlir::OwningOpRef<mlir::ModuleOp> ModuleGenerator::generate(const Function &entry) {
  module_ = mlir::ModuleOp::create(location(entry.definition->nameRange));
  mlir::func::FuncOp operation = functionFor(entry).operation;
  operation.setPublic();
  return finished();
}

void ModuleGenerator::generateMain(const Program &program) {
  auto builder = mlir::OpBuilder::atBlockEnd(module_->getBody());
  mlir::Location start = location({program.file, 0, 0});
  symbols_.insert("main");
  auto main = builder.create<mlir::func::FuncOp>(start, "main", builder.getFunctionType({}, {}));
  FunctionGenerator generator(*this, *main.addEntryBlock(), program.statements, {});
  generator.generate(program.statements);
  generator.finish({}, start);
}

const GeneratedFunction &ModuleGenerator::functionFor(const Function &function) {
  auto [entry, isNew] = functions_.try_emplace(function.definition);
  GeneratedFunction &target = entry->second;
  if (isNew)
    generateBody(function, target);
  return target;
}

// The symbol of a function: with its namespace for a function of a sourced file, with its prefix
// (such as m_) for a function of the library.
static std::string symbolOf(const Function &function) {
  bool isQualified = llvm::StringRef(function.displayName).contains("::");
  return isQualified ? function.displayName : function.definition->name;
}

void ModuleGenerator::generateBody(const Function &function, GeneratedFunction &target) {
  const FunctionDefinition &definition = *function.definition;
  llvm::SmallVector<mlir::Type> parameterTypes;
  for (const Parameter &parameter : definition.parameters)
    parameterTypes.push_back(declaredType(parameter.type));
  for (const Parameter &output : definition.outputs)
    target.resultTypes.push_back(declaredType(output.type));

  auto builder = mlir::OpBuilder::atBlockEnd(module_->getBody());
  auto operation = builder.create<mlir::func::FuncOp>(location(definition.nameRange),
                                                      uniqueSymbol(symbolOf(function)),
                                                      builder.getFunctionType(parameterTypes, {}));
  operation.setPrivate();
  target.operation = operation;

  NameSet outputs;
  for (const Parameter &output : definition.outputs)
    outputs.insert(output.name);
  mlir::Block &body = *operation.addEntryBlock();
  FunctionGenerator generator(*this, body, definition.body, outputs);
  for (auto [parameter, value] : llvm::zip(definition.parameters, body.getArguments()))
    generator.define(parameter.name, value, parameter.nameRange);
  generator.generate(definition.body);

  llvm::SmallVector<mlir::Value> results;
  for (auto [output, type] : llvm::zip(definition.outputs, target.resultTypes)) {
    mlir::Value result = generator.output(output, type);
    type = result ? result.getType() : mlir::Type();
    results.push_back(result);
  }
  if (llvm::is_contained(results, mlir::Value()))
    results.clear();
  generator.finish(results, location(definition.nameRange));
  // A caller may read what was not assigned: messages, which quote the name, say whose variable it is.
  operation.walk([&](tok::UndefOp missing) {
    if (outputs.contains(missing.getVariable().str()))
      missing.setVariable((missing.getVariable() + "' of function '" + function.displayName).str());
  });
  operation.setType(builder.getFunctionType(parameterTypes, mlir::ValueRange(results).getTypes()));
}

void ModuleGenerator::checkDefaults(const Function &function) {
  if (llvm::none_of(function.definition->parameters,
                    [](const Parameter &parameter) { return parameter.defaultValue != nullptr; }))
    return;
  auto builder = mlir::OpBuilder::atBlockEnd(module_->getBody());
  mlir::Location place = location(function.definition->nameRange);
  auto defaults = builder.create<mlir::func::FuncOp>(place, uniqueSymbol("defaults"),
                                                     builder.getFunctionType({}, {}));
  mlir::Block &block = *defaults.addEntryBlock();
  FunctionGenerator(*this, block, {}, {}).checkDefaults(function, block);
}

//===-- Models --===//

const CalledModel *ModuleGenerator::modelAt(const std::string &path, SourceRange place) {
  auto [entry, isNew] = models_.try_emplace(path);
  if (!isNew)
    return entry->second.get();
  try {
    entry->second = import(path);
  } catch (const Error &problem) {
    if (problem.kind() == ErrorKind::Internal)
      throw;
    // A line for each mistake in the model.
    auto [first, others] = llvm::StringRef(problem.message()).split('\n');
    support::Diagnostic &diagnostic = error(place, first.str());
    llvm::SmallVector<llvm::StringRef> lines;
    others.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines)
      diagnostic.note(line.str());
  }
  return entry->second.get();
}

std::unique_ptr<CalledModel> ModuleGenerator::import(const std::string &path) {
  auto model = std::make_unique<CalledModel>(path);
  onnx::KnownInputs known;
  onnx::ModelErrors errors(path);
  std::optional<onnx::ImportedModel> imported =
      onnx::importModel(model->file, known, context_, errors, onnx::LargeWeights::Literals);
  errors.throwIfAny();
  for (const onnx::ValueInfo &output : model->file.model().graph.outputs)
    if (output.type.kind != onnx::Type::Kind::Tensor)
      throw Error(path + ": output " + onnx::quotedName(output.name) +
                  " is no tensor, which scripts don't have");
  model->inputs = imported->inputs;
  model->operation = *imported->module->getOps<mlir::func::FuncOp>().begin();
  model->operation->remove();
  model->operation.setSymName(uniqueSymbol(llvm::sys::path::filename(path).str()));
  model->operation.setPrivate();
  module_->push_back(model->operation);
  options_.noteModelFile(path);
  for (const std::string &beside : model->file.external().paths())
    options_.noteModelFile(beside);
  return model;
}

std::string ModuleGenerator::uniqueSymbol(const std::string &name) {
  std::string symbol = name;
  for (int i = 2; !symbols_.insert(symbol).second; ++i)
    symbol = name + "." + std::to_string(i);
  return symbol;
}

mlir::Location ModuleGenerator::location(SourceRange range) const {
  LineColumn place = reporter_.sources().begin(range);
  const std::string &path = reporter_.sources().file(range.file).path();
  return mlir::FileLineColLoc::get(&context_, path, place.line, place.column);
}

mlir::Type ModuleGenerator::declaredType(const DeclaredType &type) {
  switch (type.dataType) {
  case DeclaredDataType::Matrix:
    return tok::matrixType(&context_);
  case DeclaredDataType::Frame:
    return tok::FrameType::get(&context_);
  case DeclaredDataType::List:
    return tok::ListType::get(&context_);
  case DeclaredDataType::Scalar:
    break;
  }
  switch (type.valueType) {
  case DeclaredValueType::Double:
    return mlir::Float64Type::get(&context_);
  case DeclaredValueType::Integer:
    return mlir::IntegerType::get(&context_, 64);
  case DeclaredValueType::Boolean:
    return mlir::IntegerType::get(&context_, 1);
  case DeclaredValueType::String:
    return tok::StringType::get(&context_);
  case DeclaredValueType::Unknown:
    break;
  }
  return tok::ScalarType::get(&context_);
}

support::Diagnostic &ModuleGenerator::error(SourceRange range, std::string message) {
  if (isFirstAt(range))
    return reporter_.error(range, std::move(message));
  return ignored_ = {};
}

support::Diagnostic &ModuleGenerator::warning(SourceRange range, std::string message) {
  if (isFirstAt(range))
    return reporter_.warning(range, std::move(message));
  return ignored_ = {};
}

void ModuleGenerator::unsupported(SourceRange range, const std::string &what) {
  if (isReachable_)
    error(range, what + " is not supported yet");
}

void ModuleGenerator::reportUnknownFunction(const CallExpression &call, bool isStatement) {
  if (isFirstAt(call.calleeRange()))
    loader_.reportUnknown(call, isStatement);
}

} // namespace tokamak::frontend
