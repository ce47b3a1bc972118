#include "codegen/KernelCompiler.h"

#include "base/NeedsMemory.h"
#include "base/SignalStack.h"
#include "base/UncheckedByThreadSanitizer.h"
#include "codegen/CodeEmitter.h"
#include "codegen/LlvmLowering.h"
#include "codegen/LoadedImages.h"
#include "codegen/MachineCode.h"
#include "codegen/loops/LoopEmitter.h"

#include "mlir/Support/DebugStringHelper.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <set>
#include <system_error>
#include <unordered_map>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// The objects that a compilation needs and that are expensive to build, so later ones reuse them.
struct Workbench {
  LoweringContext lowering;
  std::unique_ptr<CodeEmitter> emitter;
  int uses = 0;
};

// MLIR never frees the types and attributes of a context, so a workbench is thrown away after this
// many kernels.
constexpr int usesOfWorkbench = 256;

using Outcome = FailureOr<abi::KernelPlan>;
using ScheduleText = std::optional<std::string>;

} // namespace

//===- structure and names -------------------------------------------------------------------===//

// Operators that differ only in names, locations or the numbering of symbols give the same text, all
// others different texts.
std::string KernelCompiler::keyOf(plan::OperatorOp op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op.getSparseAttr() << op.getDriversAttr() << op.getSparseResultsAttr()
         << op.getCompactAttr();
  // Symbols are numbered in order of appearance: only the pattern of equal sizes matters.
  llvm::DenseMap<int64_t, int64_t> symbols;
  auto renumbered = [&](int64_t id) {
    return Size::symbol(symbols.try_emplace(id, symbols.size()).first->second);
  };
  auto printSizes = [&](ArrayRef<Size> sizes) {
    for (const Size &size : sizes)
      stream << ' ' << size.substitute(renumbered).text();
  };
  auto printArrays = [&](TypeRange types, ArrayRef<SmallVector<Size>> shapes) {
    for (auto [type, sizes] : llvm::zip_equal(types, shapes)) {
      stream << ' ' << type;
      printSizes(sizes);
    }
  };
  printArrays(op.getInputs().getTypes(), op.operandSizes());
  stream << " axes";
  printSizes(op.axisSizes());
  printArrays(op.getResultTypes(), op.resultSizes());
  llvm::DenseMap<Value, unsigned> numbers;
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments())
    numbers.try_emplace(argument, numbers.size());
  for (Operation &operation : body) {
    stream << '\n' << operation.getName() << '(';
    for (Value operand : operation.getOperands())
      stream << numbers.lookup(operand) << ' ';
    stream << ')' << operation.getAttrDictionary();
    for (Value result : operation.getResults()) {
      stream << ' ' << result.getType();
      numbers.try_emplace(result, numbers.size());
    }
  }
  return text;
}

// A name such as cell_mul_mul_sum_1: what the body is, up to six of its operators, a serial number.
static std::string readableName(plan::OperatorOp op, int64_t serial) {
  std::string name = plan::nameOfBody(op).str();
  int parts = 0;
  for (Operation &operation : op.getBody().front()) {
    auto part = llvm::TypeSwitch<Operation *, std::string_view>(&operation)
                    .Case<plan::UnaryOp, plan::BinaryOp, plan::ReduceOp>(
                        [](auto named) { return mnemonic(named.getKind()); })
                    .Case([](plan::IfElseOp) { return "ifelse"; })
                    .Default(std::string_view());
    if (part.empty() || ++parts > 6)
      continue;
    name += '_';
    name += part;
  }
  return name + "_" + std::to_string(serial);
}

//===- compilation ---------------------------------------------------------------------------===//

struct KernelCompiler::State {
  KernelCompilerOptions options;
  mutable std::mutex mutex; // guards all members below
  std::vector<std::unique_ptr<Workbench>> idle;
  std::unordered_map<std::string, std::shared_future<Outcome>> cache;
  KernelCompilerStatistics statistics;
  int64_t serial = 0;
  std::set<std::string> usedSchedules;

  const Target &target() const { return options.target ? *options.target : hostTarget(); }

  // Null after an error.
  std::unique_ptr<Workbench> takeWorkbench(plan::OperatorOp op) {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto workbench = std::move(idle.back());
        idle.pop_back();
        return workbench;
      }
    }
    auto workbench = std::make_unique<Workbench>();
    auto emitter = CodeEmitter::create(target());
    if (!emitter) {
      op.emitOpError("no code for this target: ") << llvm::toString(emitter.takeError());
      return nullptr;
    }
    workbench->emitter = std::move(*emitter);
    return workbench;
  }

  void giveBack(std::unique_ptr<Workbench> workbench) {
    if (++workbench->uses >= usesOfWorkbench)
      return;
    std::lock_guard lock(mutex);
    idle.push_back(std::move(workbench));
  }

  // The loops of the default schedule, or of one that the caller asks for or that was given for a
  // kernel of this name. What is wrong with that is reported at its place.
  FailureOr<LoopBody> loopsOf(plan::OperatorOp op, const std::string &name,
                              const ScheduleText &asked) {
    schedule::Hardware hardware{target().vectorRegisters, target().vectorBits / 8,
                                options.streams ? options.streams() : target().streams};
    schedule::Schedule schedule = defaultSchedule(op, hardware);
    auto found = options.schedules.find(name);
    if (found == options.schedules.end()) {
      if (auto wrong = applyText(op, asked.value_or(""), schedule))
        return op.emitOpError("the schedule is wrong in line ")
               << wrong->place().line << ": " << wrong->message();
      return LoopBody::analyze(op, schedule);
    }
    const auto &[place, text] = found->second;
    {
      std::lock_guard lock(mutex);
      usedSchedules.insert(name);
    }
    auto errorAt = [&](int line, int column) {
      return emitError(FileLineColLoc::get(op.getContext(), place.file, place.line + line, column));
    };
    if (auto wrong = applyText(op, text, schedule))
      return errorAt(wrong->place().line, wrong->place().column) << wrong->message();
    std::string message;
    FailureOr<LoopBody> body = [&] {
      ScopedDiagnosticHandler handler(op.getContext(), [&](Diagnostic &diagnostic) {
        message = diagnostic.str();
        return success();
      });
      return LoopBody::analyze(op, schedule);
    }();
    StringRef reason = message;
    reason.consume_front("'plan.operator' op ");
    if (failed(body))
      return errorAt(0, place.column) << "the schedule does not fit the kernel: " << reason;
    return body;
  }

  // Emits the operator's loops as MLIR and fills `plan` except for code. Null after an error.
  OwningOpRef<ModuleOp> emit(plan::OperatorOp op, const std::string &name,
                             const ScheduleText &asked, MLIRContext *context,
                             abi::KernelPlan &plan) {
    if (!op.getSparse().empty() && !op.hasDrivers()) {
      op.emitOpError("sparse operands are computed with at the entries of a driver only");
      return nullptr;
    }
    FailureOr<LoopBody> loops = loopsOf(op, name, asked);
    if (failed(loops))
      return nullptr;
    if (options.explainSchedule)
      options.explainSchedule(name, "kernel " + name + "\n" + textOf(op, loops->schedule()));
    plan = loops->describe();
    plan.name = name;
    OwningOpRef<ModuleOp> module = emitLoops(*loops, name, context, plan);
    if (options.explainLoops)
      options.explainLoops(name, debugString(*module));
    return module;
  }

  // Compiles the loops to machine code and fills in that of `plan`. It goes to the store unless the
  // key is empty.
  llvm::Error generate(ModuleOp module, Workbench &workbench, const std::string &storeKey,
                       abi::KernelPlan &plan) {
    UncheckedByThreadSanitizer section;
    llvm::LLVMContext llvmContext;
    llvmContext.setDiscardValueNames(true); // passes would spend time on names that nobody reads
    std::unique_ptr<llvm::Module> code = workbench.lowering.lower(module, llvmContext);
    if (!code)
      return llvm::createStringError("its loops don't lower to LLVM");
    llvm::TargetMachine &machine = workbench.emitter->machine();
    code->setDataLayout(machine.createDataLayout());
    code->setTargetTriple(machine.getTargetTriple().str());
    if (llvm::Error error = optimize(*code, machine))
      return error;
    if (options.explainLlvm)
      options.explainLlvm(plan.name, llvm::to_string(*code));
    if (options.explainAssembly)
      options.explainAssembly(plan.name,
                              workbench.emitter->emitAssembly(*llvm::CloneModule(*code)));
    std::unique_ptr<llvm::MemoryBuffer> object = workbench.emitter->emitObject(*code);
    if (options.keepObject)
      options.keepObject(plan.name, object->getBuffer().str());
    if (options.target)
      return llvm::Error::success();
    auto linked = MachineCode::link(object->getMemBufferRef());
    if (!linked)
      return linked.takeError();
    void *kernel = (*linked)->address(plan.name), *merge = (*linked)->address(plan.name + "_merge");
    if (std::string image = (*linked)->image(); !storeKey.empty() && !image.empty()) {
      auto offsetOf = [&](void *function) { return (*linked)->offsetInImage(function); };
      options.store->keep(storeKey,
                          {plan, std::move(image), offsetOf(kernel), merge ? offsetOf(merge) : -1});
    }
    plan.kernel = reinterpret_cast<TokKernel>(kernel);
    plan.merge = reinterpret_cast<TokMerge>(merge);
    plan.code = std::move(*linked);
    return llvm::Error::success();
  }

  bool usesStore(const std::string &name) const {
    return options.store && !options.target && !options.explainSchedule && !options.explainLoops &&
           !options.explainLlvm && !options.explainAssembly && !options.keepObject &&
           !options.schedules.contains(name);
  }

  // Plans have the names that the process which compiled them gave them. Empty if the store lacks one.
  std::vector<abi::KernelPlan> load(ArrayRef<std::string> keys) {
    std::vector<StoredKernel> stored;
    for (const std::string &key : keys) {
      std::optional<StoredKernel> found = options.store->find(key);
      if (!found)
        return {};
      stored.push_back(std::move(*found));
    }
    SmallVector<StringRef> images;
    for (const StoredKernel &kernel : stored)
      if (!kernel.plan.kernel)
        images.push_back(kernel.image);
    std::shared_ptr<LoadedImages> loaded = images.empty() ? nullptr : LoadedImages::load(images);
    std::vector<abi::KernelPlan> plans;
    size_t number = 0;
    for (StoredKernel &kernel : stored) {
      abi::KernelPlan &plan = plans.emplace_back(std::move(kernel.plan));
      // Counts this plan's users, for `evict`.
      plan.code = std::make_shared<std::shared_ptr<LoadedImages>>(loaded);
      if (plan.kernel)
        continue;
      char *begin = loaded->begin(number++);
      plan.kernel = reinterpret_cast<TokKernel>(begin + kernel.kernel);
      if (kernel.merge >= 0)
        plan.merge = reinterpret_cast<TokMerge>(begin + kernel.merge);
    }
    std::lock_guard lock(mutex);
    statistics.loaded += static_cast<int64_t>(images.size());
    statistics.builtIn += static_cast<int64_t>(plans.size() - images.size());
    return plans;
  }

  std::vector<abi::KernelPlan> find(ArrayRef<std::string> keys) {
    std::vector<std::shared_future<Outcome>> known(keys.size());
    std::vector<std::string> missing;
    {
      std::lock_guard lock(mutex);
      for (auto [key, outcome] : llvm::zip(keys, known))
        if (auto entry = cache.find(key); entry != cache.end())
          outcome = entry->second;
        else if (!llvm::is_contained(missing, key))
          missing.push_back(key);
    }
    std::vector<abi::KernelPlan> loaded =
        missing.empty() ? std::vector<abi::KernelPlan>() : load(missing);
    if (loaded.size() < missing.size())
      return {};
    {
      std::lock_guard lock(mutex);
      evict();
      for (auto [key, plan] : llvm::zip(missing, loaded)) {
        plan.name.resize(plan.name.rfind('_') + 1);
        plan.name += std::to_string(++serial);
        std::promise<Outcome> promise;
        promise.set_value(plan);
        cache.try_emplace(key, promise.get_future().share());
      }
      for (auto [key, outcome] : llvm::zip(keys, known)) {
        statistics.cacheHits += outcome.valid();
        if (!outcome.valid())
          outcome = cache.at(key);
      }
    }
    std::vector<abi::KernelPlan> plans;
    for (const std::shared_future<Outcome> &outcome : known) {
      if (failed(outcome.get()))
        return {};
      plans.push_back(*outcome.get());
    }
    return plans;
  }

  Outcome compile(plan::OperatorOp op, const ScheduleText &asked, const std::string &key,
                  std::unique_lock<std::mutex> &reading) {
    std::string name;
    {
      std::lock_guard lock(mutex);
      name = options.namePrefix + readableName(op, ++serial);
    }
    bool isStored = usesStore(name);
    if (isStored)
      if (std::vector<abi::KernelPlan> plans = load(key); !plans.empty()) {
        plans.front().name = name;
        reading.unlock();
        return std::move(plans.front());
      }
    auto start = std::chrono::steady_clock::now();
    std::unique_ptr<Workbench> workbench = takeWorkbench(op);
    if (!workbench)
      return failure();
    auto atEnd = llvm::make_scope_exit([&] { giveBack(std::move(workbench)); });
    abi::KernelPlan plan;
    OwningOpRef<ModuleOp> module = emit(op, name, asked, workbench->lowering.context(), plan);
    if (!module)
      return failure();
    reading.unlock();
    if (llvm::Error error = generate(*module, *workbench, isStored ? key : "", plan)) {
      reading.lock();
      return op.emitOpError("code generation failed: ") << llvm::toString(std::move(error));
    }
    auto time = std::chrono::steady_clock::now() - start;
    std::lock_guard lock(mutex);
    ++statistics.compiled;
    statistics.nanoseconds.push_back(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
    return plan;
  }

  // The caller holds the lock.
  void evict() {
    if (cache.size() <= options.cacheCapacity)
      return;
    std::erase_if(cache, [](const auto &entry) {
      const std::shared_future<Outcome> &outcome = entry.second;
      return outcome.wait_for(std::chrono::seconds(0)) == std::future_status::ready &&
             (failed(outcome.get()) || outcome.get()->code.use_count() == 1);
    });
  }

  // `reading` is locked when this is called; it is unlocked as soon as the operator is not read any
  // more.
  Outcome findOrCompile(plan::OperatorOp op, const ScheduleText &asked,
                        std::unique_lock<std::mutex> &reading) {
    std::string key = keyOf(op);
    if (asked)
      key += "\nschedule\n" + *asked;
    std::promise<Outcome> promise;
    std::shared_future<Outcome> found;
    {
      std::lock_guard lock(mutex);
      auto entry = cache.find(key);
      if (entry != cache.end()) {
        found = entry->second;
        ++statistics.cacheHits;
      } else {
        evict();
        cache.emplace(key, promise.get_future().share());
      }
    }
    // Failures are not shared: each operator that doesn't compile reports its own error.
    if (found.valid()) {
      reading.unlock();
      if (succeeded(found.get()))
        return found.get();
      reading.lock();
      return compile(op, asked, key, reading);
    }
    Outcome outcome = compile(op, asked, key, reading);
    promise.set_value(outcome);
    return outcome;
  }
};

KernelCompiler::KernelCompiler(KernelCompilerOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
KernelCompiler::~KernelCompiler() = default;

llvm::FailureOr<abi::KernelPlan> KernelCompiler::compile(plan::OperatorOp op,
                                                         std::optional<std::string> schedule) {
  return compile(ArrayRef(op), std::move(schedule)).front();
}

KernelCompiler::Plans KernelCompiler::compile(ArrayRef<plan::OperatorOp> operators,
                                              std::optional<std::string> schedule) {
  auto start = std::chrono::steady_clock::now();
  auto made = [&] {
    std::lock_guard lock(state_->mutex);
    const KernelCompilerStatistics &counts = state_->statistics;
    return counts.compiled + counts.loaded + counts.builtIn;
  };
  int64_t madeBefore = made();
  Plans plans(operators.size());
  // Operators share an MLIR context, so one thread at a time reads them: in their order, so that names
  // and errors don't depend on timing. What takes long comes after that.
  std::mutex mutex; // guards the operators and `next`
  size_t next = 0;
  auto work = [&] {
    for (;;) {
      std::unique_lock reading(mutex);
      if (next == operators.size())
        return;
      size_t number = next++;
      plans[number] = state_->findOrCompile(operators[number], schedule, reading);
      if (succeeded(plans[number]))
        continue;
      if (!reading.owns_lock())
        reading.lock();
      next = operators.size();
    }
  };
  const SourcePlace *place = NeedsMemory::place();
  auto help = [&] {
    provideSignalStack();
    std::optional<NeedsMemory> section;
    if (place)
      section.emplace(*place);
    work();
  };
  std::vector<std::future<void>> helpers;
  try {
    for (size_t i = 1; i < std::min<size_t>(operators.size(), state_->options.threads); ++i)
      helpers.push_back(std::async(std::launch::async, help));
  } catch (const std::system_error &) {
    // No more threads: those that there are do the work.
  }
  work();
  for (std::future<void> &helper : helpers)
    helper.get();
  bool hasMade = made() > madeBefore;
  std::lock_guard lock(state_->mutex);
  if (hasMade)
    state_->statistics.compileNanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                 std::chrono::steady_clock::now() - start)
                                                 .count();
  return plans;
}

std::vector<abi::KernelPlan> KernelCompiler::find(ArrayRef<std::string> keys) {
  auto start = std::chrono::steady_clock::now();
  std::vector<abi::KernelPlan> plans = state_->find(keys);
  std::lock_guard lock(state_->mutex);
  state_->statistics.compileNanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count();
  return plans;
}

bool KernelCompiler::hasBuiltIn(StringRef key) const {
  const KernelCompilerOptions &options = state_->options;
  return options.store && !options.target && options.store->hasBuiltIn(key);
}

std::vector<std::string> KernelCompiler::unusedSchedules() const {
  std::lock_guard lock(state_->mutex);
  std::vector<std::string> unused;
  for (const auto &[name, schedule] : state_->options.schedules)
    if (!state_->usedSchedules.contains(name))
      unused.push_back(name);
  return unused;
}

KernelCompilerStatistics KernelCompiler::statistics() const {
  std::lock_guard lock(state_->mutex);
  return state_->statistics;
}
