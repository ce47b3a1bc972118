#include "exec/Program.h"

#include "base/NearestNames.h"
#include "base/PlaceText.h"
#include "exec/KernelFiles.h"
#include "exec/LateBinding.h"
#include "exec/MachineModelCache.h"
#include "exec/PlanRecord.h"
#include "exec/PlansAhead.h"
#include "ir/tok/ElementTypes.h"
#include "pipeline/LowerToImage.h"
#include "pipeline/OutlineBlocks.h"
#include "pipeline/PrepareWeights.h"
#include "pipeline/StaticPasses.h"
#include "rewrite/BlockRules.h"
#include "runtime/image/Executor.h"
#include "runtime/image/Profile.h"

#include <fmt/format.h>
#include <mutex>
#include <ostream>

using namespace tokamak;
using namespace tokamak::exec;

std::vector<std::string> exec::transformationNames(Required required) {
  std::vector<std::string> names;
  auto add = [&](const auto &transformations) {
    for (const auto &each : transformations)
      if (each.required == (required == Required::Yes))
        names.push_back(each.name.str());
  };
  add(pipeline::staticPasses());
  add(rewrite::blockRules());
  add(rewrite::rulesAfterFusion());
  if (required == Required::No)
    names.emplace_back(specializeSizesName);
  return names;
}

// What Program.h doesn't show: those who call programs need not read the compiler's headers.
class Program::State {
public:
  explicit State(const ProgramOptions &options);
  codegen::KernelCompilerOptions compilerOptions();
  pipeline::SessionOptions sessionOptions();
  // Whether plans are shown, or kernels scheduled by hand.
  bool showsPlans() const;
  // Whether plans of earlier runs serve: those that are shown are made anew.
  bool usesPlanFiles() const;
  const Entry &entryNamed(std::string_view name) const;
  void execute(size_t function, std::span<runtime::Value> arguments,
               std::span<runtime::Value> results, runtime::ExecutionContext &context,
               pipeline::Tier firstTier);
  void note(const SpecializationEvent &event, runtime::Profile *profile);
  void explain(const SpecializationEvent &event);
  void run(runtime::ExecutionContext &context, std::span<runtime::Value> results);
  void holdWeights(std::vector<runtime::Value> weights, runtime::ExecutionContext &context);
  RunCounts counts() const;

  const ProgramOptions options_;
  runtime::Image image_;
  std::vector<Entry> entries_;
  std::vector<runtime::Value> weights_; // as `main` takes them
  pipeline::FrozenBlocks blocks_;
  CompiledFiles compiledFiles_;
  KernelFiles kernelFiles_;
  MachineModelCache machine_;
  std::mutex explaining_; // guards options_.explanations: several blocks may be compiled at a time
  std::optional<codegen::KernelCompiler> ownKernels_;
  codegen::KernelCompiler &kernels_;
  const codegen::KernelCompilerStatistics kernelsBefore_;
  const pipeline::SessionOptions sessionOptions_;
  ProgramPlans plans_;
  ScalarCompiler scalars_;
  mutable std::mutex countsMutex_;
  RunCounts counts_;
};

Program::State::State(const ProgramOptions &options)
    : options_(options), compiledFiles_(options_.cacheFolder),
      kernelFiles_(compiledFiles_, options_.builtInKernels),
      machine_(options_.machineModel,
               options_.selector == fusion::Selector::None ? MachineModelCache::Missing::Fixed
                                                           : MachineModelCache::Missing::Measured,
               options_.warn),
      kernels_(options_.kernels ? *options_.kernels : ownKernels_.emplace(compilerOptions())),
      kernelsBefore_(kernels_.statistics()), sessionOptions_(sessionOptions()),
      plans_(blocks_, sessionOptions_, kernels_, usesPlanFiles() ? &compiledFiles_ : nullptr) {}

codegen::KernelCompilerOptions Program::State::compilerOptions() {
  codegen::KernelCompilerOptions options;
  auto show = [this](const std::string &kernel, const std::string &text) {
    std::lock_guard lock(explaining_);
    *options_.explanations << "# kernel " << kernel << '\n' << text << '\n';
  };
  options.schedules = options_.schedules;
  options.store = &kernelFiles_;
  options.streams = [this] {
    auto atMost = [](double bytes) {
      return static_cast<int64_t>(std::min(bytes, double{schedule::mostStreamBytesAhead}));
    };
    const cost::MachineModel &machine = machine_.model();
    return schedule::StreamDistances{atMost(machine.streamBytesAhead),
                                     atMost(machine.singleStreamBytesAhead)};
  };
  const Explanations &explain = options_.explain;
  bool explainsKernels = explain.schedule || explain.loops || explain.llvm || explain.assembly;
  options.threads = explainsKernels ? 1 : options_.threads; // explanations stand in order
  if (explain.schedule)
    options.explainSchedule = show;
  if (explain.loops)
    options.explainLoops = show;
  if (explain.llvm)
    options.explainLlvm = show;
  if (explain.assembly)
    options.explainAssembly = show;
  if (PlanRecord *record = options_.record) {
    options.explainSchedule = record->sinkOf(&PlanRecord::Kernel::schedule);
    options.explainLoops = record->sinkOf(&PlanRecord::Kernel::loops);
    options.explainAssembly = record->sinkOf(&PlanRecord::Kernel::assembly);
  }
  return options;
}

bool Program::State::showsPlans() const {
  const Explanations &explain = options_.explain;
  return !options_.schedules.empty() || options_.record || explain.image || explain.fusion ||
         explain.schedule || explain.loops || explain.llvm || explain.assembly;
}

bool Program::State::usesPlanFiles() const {
  return compiledFiles_.areKept() && !options_.kernels && !showsPlans() &&
         !options_.explain.recompile;
}

pipeline::SessionOptions Program::State::sessionOptions() {
  pipeline::SessionOptions options;
  options.selector = options_.selector;
  options.machine = [this]() -> const cost::MachineModel & { return machine_.model(); };
  options.disabled = options_.disabled;
  options.zeroRule = options_.zeroRule;
  options.explainFusion = options_.explain.fusion;
  options.collectFacts = options_.record != nullptr;
  options.scheduleFile = options_.scheduleFile;
  return options;
}

//===- compilation ---------------------------------------------------------------------------===//

static Entry::Parameter parameterOf(mlir::Type type) {
  using Kind = Entry::Parameter::Kind;
  if (auto array = llvm::dyn_cast<mlir::RankedTensorType>(type))
    return {Kind::Array, static_cast<int>(array.getRank()), *tok::elementTypeOf(array)};
  if (type.isInteger(64))
    return {Kind::Integer};
  if (type.isF64())
    return {Kind::Double};
  if (type.isInteger(1))
    return {Kind::Boolean};
  return {llvm::isa<tok::StringType>(type) ? Kind::String : Kind::Any};
}

std::unique_ptr<Program> Program::compile(mlir::ModuleOp module, const ProgramOptions &options) {
  auto state = std::make_unique<State>(options);
  pipeline::StaticOptions staticOptions;
  staticOptions.disabled = options.disabled;
#ifndef NDEBUG
  staticOptions.verifyEach = true;
#endif
  if (failed(pipeline::runStaticPhase(module, staticOptions, &state->counts_.passes)))
    return nullptr;
  if (options.explain.program) {
    std::string text;
    llvm::raw_string_ostream out(text);
    constexpr int64_t mostCellsShown = 64;
    module.print(out, mlir::OpPrintingFlags().elideLargeElementsAttrs(mostCellsShown));
    *options.explanations << "# program, after the static phase\n" << out.str() << '\n';
  }
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function->hasAttr(pipeline::blockAttributeName)) {
      state->blocks_.add(function);
    } else if (function.isPublic()) {
      Entry &entry = state->entries_.emplace_back();
      entry.name = function.getName().str();
      for (mlir::Type type : function.getArgumentTypes())
        entry.parameters.push_back(parameterOf(type));
    }
  }
  auto image = pipeline::lowerProgram(
      module, [&](llvm::StringRef name) { return state->blocks_.numberOf(name); });
  if (failed(image))
    return nullptr;
  state->image_ = std::move(*image);
  for (Entry &entry : state->entries_)
    entry.function =
        llvm::find_if(state->image_.functions,
                      [&](const auto &function) { return function.name == entry.name; }) -
        state->image_.functions.begin();
  if (options.explain.image) {
    *options.explanations << "# image\n";
    runtime::print(state->image_, *options.explanations);
  }
  return std::unique_ptr<Program>(new Program(std::move(state)));
}

void Program::write(runtime::ByteWriter &writer) const {
  runtime::writeImage(state_->image_, writer);
  writer.list(state_->entries_, [&](const Entry &entry) {
    writer.text(entry.name);
    writer.number<uint64_t>(entry.function);
    writer.list(entry.parameters, [&](const Entry::Parameter &parameter) {
      writer.number(parameter.kind);
      writer.number(parameter.rank);
      writer.number(parameter.elementType);
    });
  });
  writer.number<uint64_t>(state_->blocks_.size());
  for (size_t i = 0; i < state_->blocks_.size(); ++i)
    state_->blocks_[static_cast<int32_t>(i)].write(writer);
}

std::unique_ptr<Program> Program::read(runtime::ByteReader &reader, const ProgramOptions &options) {
  auto state = std::make_unique<State>(options);
  auto noKernels = [](const std::string &) { return runtime::KernelCode(); };
  state->image_ = runtime::readImage(reader, {noKernels, runtime::findNative});
  state->entries_ = reader.list<Entry>([&] {
    Entry entry;
    entry.name = reader.text();
    entry.function = reader.number<uint64_t>();
    entry.parameters = reader.list<Entry::Parameter>([&] {
      auto kind = reader.choice(Entry::Parameter::Kind::Any);
      auto rank = reader.number<int>();
      return Entry::Parameter{kind, rank, reader.choice(ElementType::Bool)};
    });
    return entry;
  });
  auto blocks =
      reader.list<pipeline::FrozenBlock>([&] { return pipeline::FrozenBlock::read(reader); });
  for (pipeline::FrozenBlock &block : blocks)
    state->blocks_.add(std::move(block));
  state->counts_.isProgramLoaded = true;
  return std::unique_ptr<Program>(new Program(std::move(state)));
}

//===- reports -------------------------------------------------------------------------------===//

void Program::State::explain(const SpecializationEvent &event) {
  std::lock_guard lock(explaining_);
  std::ostream &out = *options_.explanations;
  if (options_.explain.recompile)
    out << fmt::format("# {} ({}) specialised in {:.1f} ms: {}\n    for {}\n", event.block,
                       lineText(event.place), event.milliseconds, event.reason, event.inputs);
  if (options_.explain.fusion)
    out << event.explanation << '\n';
  if (options_.explain.image) {
    out << "# image of " << event.block << '\n';
    runtime::print(*event.image, out);
  }
}

void Program::State::note(const SpecializationEvent &event, runtime::Profile *profile) {
  auto duration = std::chrono::nanoseconds(static_cast<int64_t>(event.milliseconds * 1e6));
  std::lock_guard lock(countsMutex_);
  ++(event.isLoaded ? counts_.plansLoaded : counts_.specializations);
  ++counts_.plansOfBlocks[event.block];
  counts_.specializationTime += duration.count();
  for (const SourcePlace &place : event.zeroRuleUses)
    counts_.zeroRuleUses.insert(lineText(place));
  for (const rewrite::RuleRun &run : event.rules) {
    auto known =
        llvm::find_if(counts_.rules, [&](const auto &sum) { return sum.name == run.name; });
    if (known == counts_.rules.end())
      known = counts_.rules.insert(known, rewrite::RuleRun{run.name});
    known->fired += run.fired;
    known->nanoseconds += run.nanoseconds;
  }
  if (!profile)
    return;
  auto end = std::chrono::steady_clock::now();
  profile->record({runtime::StepKind::Compilation, event.block, &event.place, end - duration, end});
}

RunCounts Program::State::counts() const {
  std::lock_guard lock(countsMutex_);
  RunCounts counts = counts_;
  counts.reasonOfMeasuring = machine_.reasonOfMeasuring();
  codegen::KernelCompilerStatistics now = kernels_.statistics();
  counts.kernelsCompiled = now.compiled - kernelsBefore_.compiled;
  counts.kernelTimes.assign(now.nanoseconds.begin() + kernelsBefore_.compiled,
                            now.nanoseconds.end());
  counts.kernelsReused = now.cacheHits - kernelsBefore_.cacheHits;
  counts.kernelsLoaded = now.loaded - kernelsBefore_.loaded;
  counts.kernelsBuiltIn = now.builtIn - kernelsBefore_.builtIn;
  ScalarCompiler::Statistics scalars = scalars_.statistics();
  counts.loopsCompiled = scalars.loops;
  counts.functionsCompiled = scalars.functions;
  counts.scalarTime = scalars.nanoseconds;
  counts.kernelTime = now.compileNanoseconds - kernelsBefore_.compileNanoseconds;
  return counts;
}

//===- execution -----------------------------------------------------------------------------===//

void Program::State::execute(size_t function, std::span<runtime::Value> arguments,
                             std::span<runtime::Value> results, runtime::ExecutionContext &context,
                             pipeline::Tier firstTier) {
  bool listens = options_.explain.recompile || options_.explain.fusion || options_.explain.image;
  LateBindingOptions binds;
  binds.iterationsBeforeCompiling =
      options_.selector == fusion::Selector::None ? INT64_MAX : options_.iterationsBeforeCompiling;
  if (options_.selector == fusion::Selector::Cost && !showsPlans()) {
    binds.firstTier = firstTier;
    binds.compilesInBackground = options_.threads > 1;
  }
  binds.expectedCalls = options_.expectedCalls;
  binds.specializesSizes = !options_.disabled.contains(specializeSizesName);
  LateBinding binding(plans_, binds, scalars_, [&](const SpecializationEvent &event) {
    note(event, context.profile);
    if (listens)
      explain(event);
    if (options_.record)
      options_.record->add(event);
  });
  runtime::Executor executor(image_, &binding, context);
  auto finish = [&] {
    std::lock_guard lock(countsMutex_);
    counts_.materializedArrays += executor.materializedArrays();
    if (context.profile && counts_.specializations + counts_.plansLoaded > 0 && !machine_.isFixed())
      counts_.memoryBytesPerNanosecond = machine_.model().memoryReadBytesPerNanosecond;
  };
  try {
    executor.call(function, arguments, results);
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

void Program::State::run(runtime::ExecutionContext &context, std::span<runtime::Value> results) {
  bool isCollected = usesPlanFiles() && !options_.collection.empty();
  if (isCollected)
    compiledFiles_.openCollection(options_.collection);
  execute(0, {}, results, context, options_.firstTier);
  if (isCollected)
    compiledFiles_.keepCollection(options_.collection);
  for (const std::string &name : kernels_.unusedSchedules())
    if (options_.warn)
      options_.warn(fmt::format("{}:{}: no kernel of this run was called {}; --explain=schedule "
                                "shows the names",
                                options_.scheduleFile, options_.schedules.at(name).place.line,
                                name));
}

void Program::State::holdWeights(std::vector<runtime::Value> weights,
                                 runtime::ExecutionContext &context) {
  auto preparation = llvm::find_if(image_.functions, [](const runtime::ImageFunction &function) {
    return function.name == pipeline::preparationName;
  });
  if (preparation == image_.functions.end()) {
    runtime::alignArrays(weights);
    weights_ = std::move(weights);
    return;
  }
  // It runs once: fused kernels of its own would take longer to compile than they save.
  std::vector<runtime::Value> prepared(preparation->resultCount);
  execute(preparation - image_.functions.begin(), weights, prepared, context,
          pipeline::Tier::BuiltIn);
  runtime::alignArrays(prepared);
  weights_ = std::move(prepared);
}

runtime::PlannedProgram Program::planAhead() {
  return {state_->image_,
          exec::planAhead(state_->blocks_, state_->sessionOptions_, state_->kernels_)};
}

const Entry &Program::State::entryNamed(std::string_view name) const {
  std::vector<std::string> names;
  for (const Entry &entry : entries_) {
    if (entry.name == name)
      return entry;
    names.push_back(entry.name);
  }
  std::vector<std::string> nearest = nearestCandidates(name, names);
  throw Error(fmt::format("the program has no function '{}' that can be called; {}", name,
                          nearest.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                          : fmt::format("did you mean '{}'?", nearest.front())));
}

// What is wrong with an argument; empty if nothing is.
static std::string complaintAbout(const Entry::Parameter &parameter, const runtime::Value &value) {
  using Kind = Entry::Parameter::Kind;
  auto expected = [&](bool holds, const char *what) {
    return holds ? "" : fmt::format("expected {}, got {}", what, value.describe());
  };
  switch (parameter.kind) {
  case Kind::Array: {
    if (!value.isArray())
      return expected(false, "an array");
    const runtime::Array &array = *value.array();
    if (array.shape().rank() == parameter.rank && array.elementType() == parameter.elementType)
      return "";
    return fmt::format("expected an array of {} dimensions and {} cells, got one of size {} and {} "
                       "cells",
                       parameter.rank, nameOf(parameter.elementType), array.shape().text(),
                       nameOf(array.elementType()));
  }
  case Kind::Integer:
    return expected(value.isInteger(), "an integer");
  case Kind::Double:
    return expected(value.isDouble(), "a double");
  case Kind::Boolean:
    return expected(value.isBoolean(), "a boolean");
  case Kind::String:
    return expected(value.isString(), "a string");
  case Kind::Any:
    return "";
  }
  return "";
}

std::vector<runtime::Value> Program::call(std::string_view name,
                                          std::vector<runtime::Value> arguments,
                                          runtime::ExecutionContext &context) {
  const Entry &entry = state_->entryNamed(name);
  if (arguments.size() + state_->weights_.size() != entry.parameters.size())
    throw Error(fmt::format("{}: expected {} arguments, got {}", name,
                            entry.parameters.size() - state_->weights_.size(), arguments.size()));
  llvm::append_range(arguments, state_->weights_);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (std::string wrong = complaintAbout(entry.parameters[i], arguments[i]); !wrong.empty())
      throw Error(fmt::format("{}: argument {}: {}", name, i + 1, wrong));
  std::vector<runtime::Value> results(state_->image_.functions[entry.function].resultCount);
  state_->execute(entry.function, arguments, results, context, state_->options_.firstTier);
  return results;
}

//===- what Program.h shows of it ------------------------------------------------------------===//

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::~Program() = default;

void Program::run(runtime::ExecutionContext &context, std::span<runtime::Value> results) {
  state_->run(context, results);
}

void Program::holdWeights(std::vector<runtime::Value> weights, runtime::ExecutionContext &context) {
  state_->holdWeights(std::move(weights), context);
}

const std::vector<Entry> &Program::entries() const { return state_->entries_; }
RunCounts Program::counts() const { return state_->counts(); }
const runtime::Image &Program::image() const { return state_->image_; }
