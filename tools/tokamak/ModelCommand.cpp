// run and check of ONNX models: a model is a function that is called with arrays from files.
#include "exec/Program.h"
#include "tokamak/Commands.h"
#include "tokamak/CompareCommand.h"
#include "tokamak/GivenSchedules.h"
#include "tokamak/ModelInputs.h"
#include "tokamak/RunReport.h"

#include "api/TensorArrays.h"
#include "base/Error.h"
#include "base/PlaceText.h"
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ImportModel.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/file/TypeText.h"
#include "ir/plan/PlanDialect.h"
#include "reference/Interpreter.h"
#include "runtime/image/Profile.h"
#include "runtime/io/FileWriter.h"
#include "runtime/io/NumpyFile.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/parallel/TileScheduler.h"
#include "support/SourceDiagnostics.h"

#include <chrono>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <iostream>

using namespace tokamak;
using runtime::Array;

namespace {

class ModelRun {
public:
  explicit ModelRun(const CommandLine &line)
      : line_(line), file_(line.file), model_(file_.model()),
        context_(mlir::MLIRContext::Threading::DISABLED) {
    context_.loadDialect<plan::PlanDialect>();
    context_.printOpOnDiagnostic(false);
  }

  int execute() {
    refuseWhatIsForScripts();
    if (line_.command == Command::Check)
      return check();
    readInputs();
    checkOutputs();
    onnx::LargeWeights weights =
        line_.compare ? onnx::LargeWeights::Literals : onnx::LargeWeights::Parameters;
    if (!import(weights))
      return Rejected;
    if (line_.compare && inputs_->variants() > 1)
      throw Error("--compare takes one size of each input");
    return line_.compare ? compare() : run();
  }

private:
  void refuseWhatIsForScripts() const {
    const std::pair<bool, const char *> given[] = {{line_.command == Command::Explain, "explain"},
                                                   {!line_.trace.empty(), "--trace"},
                                                   {!line_.call.empty(), "--call"},
                                                   {line_.singlePrecision, "--precision"},
                                                   {!line_.arguments.empty(), "-nvargs and -args"}};
    for (auto [isGiven, what] : given)
      if (isGiven)
        throw Error(fmt::format("{} of models is not supported yet; it is for scripts", what));
  }

  int check() {
    bool imported = import();
    for (const onnx::ValueInfo *input : onnx::inputsWithoutValue(model_.graph))
      std::cout << fmt::format("input {}: {}\n", onnx::quotedName(input->name),
                               onnx::typeText(input->type));
    for (const onnx::ValueInfo &output : model_.graph.outputs)
      std::cout << fmt::format("output {}: {}\n", onnx::quotedName(output.name),
                               onnx::typeText(output.type));
    if (imported)
      std::cout << line_.file << ": no errors\n";
    return imported ? Success : Rejected;
  }

  void readInputs() {
    inputs_.emplace(line_, onnx::inputsWithoutValue(model_.graph));
    for (const onnx::ValueInfo *input : inputs_->all())
      known_.values[input->name] = &tensorOf(*input, *inputs_->value(input->name, 0));
  }

  void checkOutputs() {
    for (const std::string &option : line_.outputs) {
      auto [name, path] = splitNamed(option, "output");
      auto found = std::find_if(model_.graph.outputs.begin(), model_.graph.outputs.end(),
                                [&](const onnx::ValueInfo &info) { return info.name == name; });
      if (found == model_.graph.outputs.end())
        throw Error(fmt::format("the model has no output {}", onnx::quotedName(name)));
      if (found->type.kind != onnx::Type::Kind::Tensor)
        throw Error(fmt::format("output {} is no tensor, which a file .npy could hold",
                                onnx::quotedName(name)));
      if (!path.ends_with(".npy"))
        throw Error(fmt::format("--output={}: a result is written to a file .npy", option));
    }
  }

  //===- the program -------------------------------------------------------------------------===//

  bool import(onnx::LargeWeights weights = onnx::LargeWeights::Parameters) {
    onnx::ModelErrors errors(line_.file);
    imported_ = onnx::importModel(file_, known_, context_, errors, weights);
    for (const std::string &message : errors.messages())
      std::cerr << message << '\n';
    return bool(imported_);
  }

  const onnx::Tensor &tensorOf(const onnx::ValueInfo &input, const Array &array) {
    onnx::Tensor &tensor = tensors_.emplace_back();
    tensor.name = input.name;
    tensor.dataType = input.type.dataType;
    tensor.storage = onnx::CellStorage::Raw;
    tensor.dims.assign(array.shape().sizes().begin(), array.shape().sizes().end());
    tensor.raw = {reinterpret_cast<const char *>(array.rawBytes()),
                  static_cast<size_t>(array.bytes())};
    return tensor;
  }

  std::vector<runtime::Value> weights() {
    std::vector<runtime::Value> weights;
    for (const onnx::Tensor *weight : imported_->weights)
      weights.emplace_back(api::arrayOver(*weight, &file_.external()));
    return weights;
  }
  void takeVariant(int variant, std::vector<runtime::Value> &arguments) {
    for (auto [place, input] : llvm::enumerate(imported_->inputs))
      if (!arguments[place].isArray() || inputs_->hasVariants(input->name))
        arguments[place] = inputs_->value(input->name, variant);
  }

  void refuseVariantsThatDecideRanks() {
    for (const auto *names : {&known_.wanted, &known_.wantedSizes})
      for (const auto &name : *names)
        if (inputs_->hasVariants(name.getKey()))
          throw Error(fmt::format("the model has other ranks for other sizes of input {}: give one",
                                  onnx::quotedName(name.getKey())));
  }

  // With its inputs written out, too, the model is a program without parameters.
  int compare() {
    auto main = *imported_->module->getOps<mlir::func::FuncOp>().begin();
    mlir::Block &body = main.front();
    onnx::GraphBuilder graph(mlir::OpBuilder::atBlockBegin(&body));
    for (auto [input, parameter] : llvm::zip_equal(imported_->inputs, body.getArguments()))
      parameter.replaceAllUsesWith(
          graph.literal(onnx::constantTensor(*known_.values.lookup(input->name), graph, nullptr)));
    body.eraseArguments(0, body.getNumArguments());
    main.setType(graph.builder().getFunctionType({}, main.getResultTypes()));
    support::DiagnosticEngine diagnostics;
    return compareEngines(*imported_->module, line_, /*functions=*/nullptr, diagnostics);
  }

  int run() {
    if (line_.memoryBytes > 0)
      runtime::BufferPool::instance().setMemoryBudget(line_.memoryBytes);
    runtime::Scheduler scheduler(line_.threads, line_.program.warn);
    runtime::ExecutionContext context;
    context.output = &std::cout;
    context.scheduler = &scheduler;
    std::vector<runtime::Value> results;
    std::unique_ptr<exec::Program> program;
    bool isReference = line_.engine == Engine::Reference;
    if (!isReference && !(program = compile()))
      return Rejected;
    refuseVariantsThatDecideRanks();
    std::vector<runtime::Value> given(imported_->inputs.size());
    takeVariant(0, given);
    try {
      if (program)
        program->holdWeights(weights(), context);
      else
        llvm::append_range(given, weights());
    } catch (const Error &error) {
      return reportError(error);
    }
    std::optional<runtime::Profile> profile; // of the runs, without what is done once before them
    if (line_.statistics != Statistics::None)
      context.profile = &profile.emplace(runtime::Profile::Events::Dropped);
    const int64_t memoryBefore = runtime::BufferPool::instance().statistics().inUse;
    const auto firstBegin = std::chrono::steady_clock::now();
    for (int i = 0; i < std::max(1, line_.repetitions) * inputs_->variants(); ++i) {
      takeVariant(i % inputs_->variants(), given);
      results.clear(); // another run may use their memory
      auto begin = std::chrono::steady_clock::now();
      try {
        results = isReference ? reference::Interpreter(*imported_->module, context)
                                    .call("main", api::asReferenceHolds(given))
                              : program->call("main", given, context);
      } catch (const Error &error) {
        return reportError(error);
      }
      std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      if (i == 0 && program)
        firstRunCompileTime_ = program->counts().specializationTime;
      if (line_.repetitions > 0 || inputs_->variants() > 1)
        std::cerr << fmt::format("run {}: {:.3f} ms\n", i + 1, time.count());
    }
    show(results);
    if (profile)
      reportRuns(*profile, program ? program->counts() : exec::RunCounts(), firstBegin,
                 scheduler.threads(), memoryBefore);
    return Success;
  }

  void reportRuns(const runtime::Profile &profile, const exec::RunCounts &counts,
                  std::chrono::steady_clock::time_point begin, int threads, int64_t memoryBefore) {
    auto nanoseconds = [](auto duration) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
    };
    RunReport report{&profile,
                     counts,
                     nanoseconds(begin - start_),
                     nanoseconds(std::chrono::steady_clock::now() - begin),
                     threads,
                     memoryBefore,
                     firstRunCompileTime_};
    if (line_.statistics == Statistics::Json)
      writeJson(report, std::cerr);
    else
      writeText(report, std::cerr);
  }

  std::unique_ptr<exec::Program> compile() {
    support::DiagnosticEngine diagnostics;
    exec::ProgramOptions options = line_.program;
    options.schedules = readGivenSchedules(options.scheduleFile, diagnostics);
    std::unique_ptr<exec::Program> program;
    {
      support::MlirDiagnosticForwarder forwarder(&context_, diagnostics);
      mlir::OwningOpRef<mlir::ModuleOp> module(imported_->module->clone());
      if (inputs_->variants() > 1) {
        expectSizes(*module);
        options.expectedCalls = std::max(1, line_.repetitions) * inputs_->variants();
      }
      program = exec::Program::compile(*module, options);
    }
    for (const support::Diagnostic *diagnostic : diagnostics.sorted())
      report({diagnostic->file, static_cast<int>(diagnostic->line), 0}, diagnostic->message);
    return program;
  }

  void expectSizes(mlir::ModuleOp module) {
    auto main = *module.getOps<mlir::func::FuncOp>().begin();
    for (auto [number, sizes] : llvm::enumerate(inputs_->expectedSizes(imported_->inputs)))
      main.setArgAttr(number, tok::expectedSizesAttributeName,
                      tok::sizesAttribute(&context_, sizes));
  }

  // The place of a node is its name.
  void report(const SourcePlace &place, const std::string &message) const {
    std::cerr << (place.isKnown() ? placeText(place) : line_.file) << ": " << message << '\n';
  }

  int reportError(const Error &error) {
    report(error.place(), error.message());
    for (const std::string &note : error.notes())
      std::cerr << fmt::format("  note: {}\n", note);
    return error.kind() == ErrorKind::Internal ? InternalFailure : RunFailed;
  }

  // A line for each result, or its file.
  void show(const std::vector<runtime::Value> &results) {
    for (size_t i = 0; i < results.size(); ++i) {
      const onnx::ValueInfo &info = *imported_->results[i];
      runtime::ArrayReference array = results[i].array();
      if (std::optional<ElementType> declared = onnx::heldElementTypeOf(info.type.dataType))
        array = Array::withElementType(array, *declared);
      bool isWritten = false;
      for (const std::string &option : line_.outputs)
        if (auto [name, path] = splitNamed(option, "output"); name == info.name) {
          runtime::FileWriter file(path);
          file.write(runtime::formatNumpy(array));
          file.commit();
          isWritten = true;
        }
      if (!isWritten)
        std::cout << summaryOf(info, array) << "\n";
    }
  }

  static std::string summaryOf(const onnx::ValueInfo &info, const runtime::ArrayReference &array) {
    std::string text = fmt::format("{}: {} [{}]", onnx::printableName(info.name),
                                   nameOf(array->elementType()), array->shape().text());
    auto doubles = Array::asDense(Array::withElementType(array, ElementType::F64));
    int64_t count = doubles->cells();
    if (count == 0)
      return text + ", no cells";
    if (count == 1)
      return fmt::format("{}, {:.6g}", text, doubles->data()[0]);
    double least = doubles->data()[0], most = least, sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      double cell = doubles->data()[i];
      least = std::fmin(least, cell);
      most = std::fmax(most, cell);
      sum += cell;
    }
    return fmt::format("{}, from {:.6g} to {:.6g}, mean {:.6g}", text, least, most,
                       sum / static_cast<double>(count));
  }

  const CommandLine &line_;
  int64_t firstRunCompileTime_ = 0; // nanoseconds
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  onnx::ModelFile file_;
  const onnx::Model &model_;
  mlir::MLIRContext context_;
  std::optional<ModelInputs> inputs_;
  std::deque<onnx::Tensor> tensors_;
  onnx::KnownInputs known_;
  std::optional<onnx::ImportedModel> imported_;
};

} // namespace

int tokamak::modelCommand(const CommandLine &line) {
  try {
    return ModelRun(line).execute();
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal)
      throw;
    // Mistakes in the model itself come with its path.
    bool hasPath = error.message().starts_with(line.file);
    std::cerr << (hasPath ? "" : line.file + ": ") << error.message() << '\n';
    for (const std::string &note : error.notes())
      std::cerr << fmt::format("  note: {}\n", note);
    return Rejected;
  }
}
