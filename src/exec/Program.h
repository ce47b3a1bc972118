// A compiled program: the static phase has run; blocks are planned when execution reaches them. It is
// compiled once and called any number of times, from several threads at the same time: its plans and
// kernels are kept as long as it lives.
//
//   std::unique_ptr<Program> program = Program::compile(module, options);   // null on failure
//   runtime::ExecutionContext context{.output = &std::cout, .scheduler = &scheduler};
//   program->run(context);                                                  // throws Error
//   std::vector<runtime::Value> results = program->call("scale", {matrix, 0.5}, context);
#ifndef TOKAMAK_EXEC_PROGRAM_H
#define TOKAMAK_EXEC_PROGRAM_H

#include "exec/BuiltInKernels.h"
#include "exec/KernelFiles.h"
#include "exec/LateBinding.h"
#include "exec/MachineModelCache.h"
#include "exec/PlanRecord.h"
#include "pipeline/StaticPhase.h"
#include "runtime/image/Executor.h"

#include "mlir/IR/BuiltinOps.h"

#include <iosfwd>
#include <map>
#include <set>

namespace tokamak::exec {

// What --explain shows; any combination.
struct Explanations {
  bool program = false, image = false, fusion = false, schedule = false, loops = false,
       llvm = false, assembly = false, recompile = false;
};

struct ProgramOptions {
  fusion::Selector selector = fusion::Selector::Cost;
  // With what blocks begin. Without effect where kernels are shown or scheduled by
  // hand, and with other selectors than `Cost`.
  pipeline::Tier firstTier = pipeline::Tier::Compiled;
  int64_t expectedCalls = 1;  // LateBindingOptions::expectedCalls
  llvm::StringSet<> disabled; // passes and rules by name
  Explanations explain;
  std::ostream *explanations = nullptr; // destination; required if any is requested
  PlanRecord *record = nullptr;         // receives every plan that is made; may be null
  // Receives warnings that do not stop the program; may be empty.
  std::function<void(const std::string &)> warn;
  std::string machineModel; // file; empty: the model measured on this machine
  int threads = 1;          // that compile the kernels of one block at the same time
  codegen::KernelCompiler *kernels = nullptr; // may be shared by programs; null: an own one
  ZeroRule zeroRule = ZeroRule::Sparse;
  // Of some kernels, read from `scheduleFile`, at whose lines wrong ones are reported.
  schedule::GivenSchedules schedules;
  std::string scheduleFile;
  // Loops of scalars are compiled after so many iterations; without fusion, never.
  int64_t iterationsBeforeCompiling = 10'000;
  // Folder with what earlier runs have compiled (CacheFolder.h); empty: none. Not for `kernels`.
  std::string cacheFolder;
  // Identifies the program there, with what decides its plans: what it uses is also kept in one piece.
  // Empty: it isn't.
  std::string collection;
  const BuiltInKernels *builtInKernels = nullptr; // null: there are none
};

// Counts of all runs and calls that have ended, for tests and --stats; times in nanoseconds.
struct RunCounts {
  int64_t specializations = 0;                  // of blocks, made by this process
  int64_t plansLoaded = 0;                      // made by another process
  std::map<std::string, int64_t> plansOfBlocks; // of both, by the block's name
  int64_t specializationTime = 0;               // of both; includes kernelTime
  int64_t kernelsCompiled = 0;
  int64_t kernelsReused = 0; // compiled by this process before
  int64_t kernelsLoaded = 0; // compiled by another process
  int64_t kernelsBuiltIn = 0;
  int64_t kernelTime = 0;
  std::vector<int64_t> kernelTimes;                                 // of each that was compiled
  int64_t loopsCompiled = 0, functionsCompiled = 0, scalarTime = 0; // loops, functions of scalars
  int64_t materializedArrays = 0;
  bool isProgramLoaded = false;          // compiled by another process: there was no static phase
  std::vector<pipeline::PassRun> passes; // of the static phase
  std::vector<rewrite::RuleRun> rules;   // summed over all blocks
  // "file:line" of operators that compute zero for a sparse matrix's zero times any number.
  std::set<std::string> zeroRuleUses;
  double memoryBytesPerNanosecond = 0; // read by one core, by the machine model; 0: not requested
  std::string reasonOfMeasuring; // why the machine's speeds were measured; empty: they were not
};

// A function that can be called.
struct Entry {
  struct Parameter {
    enum class Kind : uint8_t { Array, Integer, Double, Boolean, String, Any } kind;
    // Of an array.
    int rank = 0;
    ElementType elementType = ElementType::F64;
  };
  std::string name;
  size_t function = 0; // of the image
  std::vector<Parameter> parameters;
};

class Program {
public:
  // Runs the static phase on the module and freezes it. The public functions are entries. Null after
  // diagnostics.
  static std::unique_ptr<Program> compile(mlir::ModuleOp module, const ProgramOptions &options);

  // The program as it was before its first run, and back: what read() gives is as if it were compiled
  // with these options, of which `disabled` must be the same. Reading throws Error if the bytes are
  // damaged.
  void write(runtime::ByteWriter &writer) const;
  static std::unique_ptr<Program> read(runtime::ByteReader &reader, const ProgramOptions &options);

  // Runs `main`. `results`: receives its results, if it has any. Throws Error.
  void run(runtime::ExecutionContext &context, std::span<runtime::Value> results = {});
  // The last arguments of `main` in all calls that follow, which are not given to them. What `main` computes
  // from them alone is computed now (pipeline/PrepareWeights.h). They need not be aligned: those that
  // calls read are copied then. Required, before any call, of a module with tok::weightsAttributeName.
  // Throws Error.
  void holdWeights(std::vector<runtime::Value> weights, runtime::ExecutionContext &context);
  // Calls an entry and returns its results. Throws Error, for an unknown name and for arguments of
  // other types, too. Several threads may call at the same time, each with a context of its own.
  std::vector<runtime::Value> call(std::string_view entry, std::vector<runtime::Value> arguments,
                                   runtime::ExecutionContext &context);

  // The program as it runs without a compiler: with plans for the sizes that its inputs are expected to have
  // (tok::expectedSizesAttributeName), and slower ones for all others (PlansAhead.h). Throws Error.
  runtime::PlannedProgram planAhead();

  const std::vector<Entry> &entries() const { return entries_; }
  RunCounts counts() const;
  const runtime::Image &image() const { return image_; }

private:
  explicit Program(const ProgramOptions &options);
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

// Names of the passes of the static phase and of the rewrite rules: of those that a program can't do
// without, or of those that --disable accepts.
enum class Required : uint8_t { No, Yes };
std::vector<std::string> transformationNames(Required required);

} // namespace tokamak::exec
#endif
