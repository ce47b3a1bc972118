#include "pipeline/Passes.h"

#include "analysis/FactsAnalysis.h"
#include "fusion/select/FuseBlock.h"
#include "ir/plan/PlanDialect.h"
#include "pipeline/LowerToImage.h"
#include "pipeline/OutlineBlocks.h"
#include "pipeline/StaticPasses.h"
#include "rewrite/BlockRules.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include <sstream>

using namespace mlir;
using namespace tokamak;

namespace {

// Base of passes on a module.
template <typename Self> struct ModulePass : PassWrapper<Self, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ModulePass)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tok::TokDialect, plan::PlanDialect>();
  }
};

struct PrintFactsPass : ModulePass<PrintFactsPass> {
  StringRef getArgument() const final { return "tok-print-facts"; }
  StringRef getDescription() const final {
    return "Remark sizes and integer values that are known";
  }
  void runOnOperation() final {
    analysis::FactsAnalysis facts(getOperation());
    getOperation()->walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        tok::Facts known = facts.factsOf(result);
        if (!known.dims.empty())
          op->emitRemark() << llvm::join(
              llvm::map_range(known.dims, [](const Size &size) { return size.text(); }), " x ");
        else if (!known.integer.isUnknown())
          op->emitRemark() << "= " << known.integer.text();
      }
    });
  }
};

struct StaticPhasePass : ModulePass<StaticPhasePass> {
  StringRef getArgument() const final { return "tok-static-phase"; }
  StringRef getDescription() const final { return "The whole static phase"; }
  void runOnOperation() final {
    if (failed(pipeline::runStaticPhase(getOperation(), {})))
      signalPassFailure();
  }
};

// One pass for each pass of the static phase, named after it.
struct StaticPassPass : ModulePass<StaticPassPass> {
  explicit StaticPassPass(const pipeline::StaticPass &pass)
      : pass(pass), argument("tok-" + pass.name.str()) {}
  StringRef getArgument() const final { return argument; }
  StringRef getDescription() const final { return pass.summary; }
  void runOnOperation() final {
    pipeline::StaticProgram program(getOperation());
    if (failed(pass.apply(program)))
      signalPassFailure();
  }
  pipeline::StaticPass pass;
  std::string argument;
};

// One pass for each rule, named after it.
struct BlockRulePass : PassWrapper<BlockRulePass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BlockRulePass)
  explicit BlockRulePass(const rewrite::BlockRule &rule)
      : rule(rule), argument("tok-" + rule.name.str()) {}
  StringRef getArgument() const final { return argument; }
  StringRef getDescription() const final { return rule.summary; }
  void runOnOperation() final {
    analysis::FactsAnalysis facts(getOperation());
    rule.apply(getOperation(), facts);
  }
  rewrite::BlockRule rule;
  std::string argument;
};

struct FusePass : PassWrapper<FusePass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusePass)
  FusePass() = default;
  FusePass(const FusePass &other) : PassWrapper(other) {}
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<plan::PlanDialect>();
  }
  StringRef getArgument() const final { return "tok-fuse"; }
  StringRef getDescription() const final {
    return "Fuse operations into plan.operator, under the fixed machine model";
  }
  void runOnOperation() final {
    std::optional<fusion::Selector> known = fusion::findSelector(selector);
    if (!known) {
      getOperation().emitError("no selector ") << selector;
      return signalPassFailure();
    }
    analysis::FactsAnalysis facts(getOperation());
    llvm::DenseMap<Value, tok::Facts> cache;
    auto factsOf = [&](Value value) -> const tok::Facts & {
      return cache.try_emplace(value, facts.factsOf(value)).first->second;
    };
    cost::MachineModel fixed;
    std::string explanation;
    if (failed(fusion::fuseBlock(getOperation(), factsOf,
                                 {*known, &fixed, explain ? &explanation : nullptr})))
      signalPassFailure();
    llvm::outs() << explanation;
  }
  Option<std::string> selector{*this, "selector",
                               llvm::cl::desc("none, patterns, all, no-redundancy or cost"),
                               llvm::cl::init("cost")};
  Option<bool> explain{*this, "explain", llvm::cl::desc("print the explanation"),
                       llvm::cl::init(false)};
};

struct LowerToImagePass : ModulePass<LowerToImagePass> {
  StringRef getArgument() const final { return "tok-lower-to-image"; }
  StringRef getDescription() const final { return "Print the program image"; }
  void runOnOperation() final {
    llvm::StringMap<int32_t> blocks;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(pipeline::blockAttributeName))
        blocks.try_emplace(function.getName(), blocks.size());
    auto image =
        pipeline::lowerProgram(getOperation(), [&](StringRef name) { return blocks.lookup(name); });
    if (failed(image))
      return signalPassFailure();
    std::ostringstream out;
    runtime::print(*image, out);
    llvm::outs() << out.str();
  }
};

} // namespace

void pipeline::registerPasses() {
  PassRegistration<PrintFactsPass>();
  PassRegistration<StaticPhasePass>();
  PassRegistration<FusePass>();
  PassRegistration<LowerToImagePass>();
  for (const StaticPass &pass : staticPasses())
    registerPass([&pass] { return std::make_unique<StaticPassPass>(pass); });
  for (ArrayRef<rewrite::BlockRule> rules : {rewrite::blockRules(), rewrite::rulesAfterFusion()})
    for (const rewrite::BlockRule &rule : rules)
      registerPass([&rule] { return std::make_unique<BlockRulePass>(rule); });
}
