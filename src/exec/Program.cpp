#include "exec/Program.h"

#include "exec/AheadOfTime.h"
#include "exec/MachineModelCache.h"
#include "pipeline/LowerToImage.h"
#include "pipeline/OutlineBlocks.h"
#include "pipeline/StaticPhase.h"
#include "rewrite/BlockRules.h"
#include "runtime/Profile.h"

#include <fmt/format.h>
#include <mutex>
#include <ostream>

using namespace tokamak;
using namespace tokamak::exec;

std::vector<std::string> exec::disableNames() {
  std::vector<std::string> names;
  for (llvm::StringRef name : pipeline::staticPassNames())
    names.push_back(name.str());
  for (llvm::ArrayRef<rewrite::BlockRule> rules : {rewrite::blockRules(), rewrite::nativeRules()})
    for (const rewrite::BlockRule &rule : rules)
      if (!rule.required)
        names.push_back(rule.name.str());
  return names;
}

std::unique_ptr<Program> Program::compile(mlir::ModuleOp module, const ProgramOptions &options) {
  std::unique_ptr<Program> program(new Program(options));
  pipeline::StaticOptions staticOptions;
  staticOptions.disabled = options.disabled;
#ifndef NDEBUG
  staticOptions.verifyEach = true;
#endif
  if (failed(pipeline::runStaticPhase(module, staticOptions)))
    return nullptr;
  if (options.explain.program) {
    std::string text;
    llvm::raw_string_ostream out(text);
    module.print(out);
    *options.explanations << "# program, after the static phase\n" << out.str() << '\n';
  }
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function->hasAttr(pipeline::blockAttributeName))
      program->blocks_.add(function);
  auto image = pipeline::lowerProgram(
      module, [&](llvm::StringRef name) { return program->blocks_.numberOf(name); });
  if (failed(image))
    return nullptr;
  program->image_ = std::move(*image);
  if (options.explain.image) {
    *options.explanations << "# image\n";
    runtime::print(program->image_, *options.explanations);
  }
  return program;
}

void Program::tell(const SpecializationEvent &event) {
  std::ostream &out = *options_.explanations;
  if (options_.explain.recompile)
    out << fmt::format("# {} ({}:{}) specialised in {:.1f} ms: {}\n    for {}\n", event.block,
                       event.place.file, event.place.line, event.milliseconds, event.reason,
                       event.inputs);
  if (options_.explain.fusion)
    out << event.explanation << '\n';
  if (options_.explain.image) {
    out << "# image of " << event.block << '\n';
    runtime::print(*event.image, out);
  }
}

static void recordSpecialization(const SpecializationEvent &event, runtime::Profile *profile,
                                 RunCounts &counts) {
  auto duration = std::chrono::nanoseconds(static_cast<int64_t>(event.milliseconds * 1e6));
  counts.specializationTime += duration.count();
  for (const SourcePlace &place : event.zeroRuleUses)
    counts.zeroRuleUses.insert(fmt::format("{}:{}", place.file, place.line));
  for (const rewrite::RuleRun &run : event.rules) {
    auto known = llvm::find_if(counts.rules, [&](const auto &sum) { return sum.name == run.name; });
    if (known == counts.rules.end())
      known = counts.rules.insert(known, rewrite::RuleRun{run.name});
    known->fired += run.fired;
    known->nanoseconds += run.nanoseconds;
  }
  if (!profile)
    return;
  auto end = std::chrono::steady_clock::now();
  profile->record({runtime::StepKind::Compilation, event.block, &event.place, end - duration, end});
}

void Program::run(runtime::ExecutionContext &context, std::span<runtime::Value> results) {
  codegen::KernelCompilerOptions compilerOptions;
  std::mutex explanations; // several blocks may compile kernels concurrently
  auto show = [&](const std::string &kernel, const std::string &text) {
    std::lock_guard lock(explanations);
    *options_.explanations << "# kernel " << kernel << '\n' << text << '\n';
  };
  if (options_.explain.loops)
    compilerOptions.explainLoops = show;
  if (options_.explain.llvm)
    compilerOptions.explainLlvm = show;
  if (options_.explain.assembly)
    compilerOptions.explainAssembly = show;
  ObjectKeeper objects;
  if (!options_.aheadOfTime.empty())
    compilerOptions.keepObject = objects.sink();
  std::optional<codegen::KernelCompiler> ownKernels;
  codegen::KernelCompiler &kernels =
      options_.kernels ? *options_.kernels : ownKernels.emplace(compilerOptions);

  using Missing = MachineModelCache::Missing;
  MachineModelCache machine(options_.machineModel,
                            options_.selector == fusion::Selector::None ? Missing::Fixed
                                                                        : Missing::Measured,
                            options_.warn);
  pipeline::SessionOptions sessionOptions;
  sessionOptions.selector = options_.selector;
  sessionOptions.machine = [&]() -> const cost::MachineModel & { return machine.model(); };
  sessionOptions.disabled = options_.disabled;
  sessionOptions.zeroRule = options_.zeroRule;
  sessionOptions.explainFusion = options_.explain.fusion;
  bool listens = options_.explain.recompile || options_.explain.fusion || options_.explain.image;
  RunCounts counts;
  std::mutex telling;
  codegen::KernelCompilerStatistics before = kernels.statistics();
  LateBinding binding(blocks_, sessionOptions, kernels, [&](const SpecializationEvent &event) {
    std::scoped_lock lock(telling, explanations);
    recordSpecialization(event, context.profile, counts);
    if (listens)
      tell(event);
  });

  runtime::Executor executor(image_, &binding, context);
  auto finish = [&] {
    codegen::KernelCompilerStatistics after = kernels.statistics();
    counts.specializations = binding.specializations();
    counts.kernelsCompiled = after.compiled - before.compiled;
    counts.kernelsReused = after.cacheHits - before.cacheHits;
    counts.kernelTime = after.compileNanoseconds - before.compileNanoseconds;
    counts.materializedArrays = executor.materializedArrays();
    if (context.profile && counts.specializations > 0 && !machine.isFixed())
      counts.memoryBytesPerNanosecond = machine.model().memoryReadBytesPerNanosecond;
    counts_ = counts;
  };
  try {
    executor.run(results);
  } catch (...) {
    finish();
    throw;
  }
  finish();
  if (!options_.aheadOfTime.empty())
    writeAheadOfTime(options_.aheadOfTime, {image_, binding.plannedBlocks()}, objects);
}
