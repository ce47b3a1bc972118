#include "pipeline/CompileSession.h"

#include "analysis/FactsAnalysis.h"
#include "fusion/explore/BlockGraph.h"
#include "fusion/explore/WantedCells.h"
#include "fusion/select/BuildOperators.h"
#include "fusion/select/FusionFacts.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/CellFacts.h"
#include "pipeline/BlockSignature.h"
#include "pipeline/GeneralOperators.h"
#include "pipeline/LowerToImage.h"
#include "pipeline/OutlineBlocks.h"
#include "rewrite/BlockRules.h"
#include "support/SourceLocations.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;
using runtime::PlanConditions;

//===- frozen blocks -------------------------------------------------------------------------===//

void FrozenBlock::write(runtime::ByteWriter &writer) const {
  writer.text(name);
  writer.text(bytecode);
  writer.list(bind, [&](bool each) { writer.number<uint8_t>(each); });
  writer.list(literals, [&](int64_t literal) { writer.number(literal); });
  writer.number<uint8_t>(hasManySizes);
  writer.list(expectedSizes, [&](const Size &size) { writer.text(size.text()); });
  runtime::writePlace(place, writer);
}

FrozenBlock FrozenBlock::read(runtime::ByteReader &reader) {
  FrozenBlock block;
  block.name = reader.text();
  block.bytecode = reader.text();
  block.bind = reader.list<bool>([&] { return reader.boolean(); });
  block.literals = reader.list<int64_t>([&] { return reader.number<int64_t>(); });
  block.hasManySizes = reader.boolean();
  block.expectedSizes =
      reader.list<Size>([&] { return Size::parse(reader.text()).value_or(Size::unknown()); });
  block.place = runtime::readPlace(reader);
  return block;
}

// Plans don't depend on them, so that the block's bytecode does not, either.
static std::vector<Size> takeExpectedSizes(func::FuncOp function) {
  std::vector<Size> all;
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (Attribute sizes = function.removeArgAttr(number, tok::expectedSizesAttributeName))
      llvm::append_range(all, *tok::sizesOf(sizes));
  return all;
}

int32_t FrozenBlocks::add(func::FuncOp function) {
  FrozenBlock block;
  block.name = function.getName().str();
  block.place = support::placeOf(function.getLoc());
  block.hasManySizes = function->hasAttr(tok::manySizesAttributeName);
  if (auto bind = function->getAttrOfType<DenseBoolArrayAttr>(bindAttributeName))
    block.bind.assign(bind.asArrayRef().begin(), bind.asArrayRef().end());
  auto integerIn = [](tok::ConstantOp constant) {
    return constant && constant.getType().isInteger(64) ? dyn_cast<IntegerAttr>(constant.getValue())
                                                        : IntegerAttr();
  };
  function.walk([&](tok::ConstantOp constant) {
    if (IntegerAttr integer = integerIn(constant))
      block.literals.push_back(integer.getInt());
  });
  // The end of a part, which often is that of the array.
  function.walk([&](tok::CallNativeOp native) {
    if (native.getNative() != "strided_slice")
      return;
    auto integerAt = [&](size_t number) {
      return integerIn(native.getOperand(number).getDefiningOp<tok::ConstantOp>());
    };
    for (size_t number = 1; number + 1 < native.getNumOperands(); number += 3)
      if (IntegerAttr begin = integerAt(number), size = integerAt(number + 1); begin && size)
        if (int64_t end = 0; !llvm::AddOverflow(begin.getInt(), size.getInt(), end) && end > 0)
          block.literals.push_back(end - 1);
  });
  function.walk([&](plan::OperatorOp op) {
    for (const SmallVector<Size> &sizes : op.operandSizes())
      for (const Size &size : sizes)
        if (size.isConstant())
          block.literals.push_back(size.constantValue());
  });
  block.expectedSizes = takeExpectedSizes(function);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  OpBuilder builder(module->getBodyRegion());
  cast<func::FuncOp>(builder.clone(*function)).setName(blockFunctionName);
  llvm::raw_string_ostream out(block.bytecode);
  if (failed(writeBytecodeToFile(*module, out)))
    internalError("a block can't be written as bytecode");
  return add(std::move(block));
}

int32_t FrozenBlocks::add(FrozenBlock block) {
  std::unique_lock lock(mutex_);
  numbers_.try_emplace(block.name, static_cast<int32_t>(blocks_.size()));
  blocks_.push_back(std::move(block));
  namesGiven_ -= namesGiven_ > 0;
  return blocks_.size() - 1;
}

const FrozenBlock &FrozenBlocks::operator[](int32_t block) const {
  std::shared_lock lock(mutex_);
  return blocks_[block];
}

size_t FrozenBlocks::size() const {
  std::shared_lock lock(mutex_);
  return blocks_.size();
}

std::string FrozenBlocks::newName(const std::string &origin) {
  std::unique_lock lock(mutex_);
  return origin + "_" + std::to_string(blocks_.size() + namesGiven_++);
}

int32_t FrozenBlocks::numberOf(StringRef name) const {
  std::shared_lock lock(mutex_);
  auto number = numbers_.find(name);
  if (number == numbers_.end())
    internalError("unknown block " + name.str());
  return number->second;
}

//===- session -------------------------------------------------------------------------------===//

namespace {

// Turns the first error diagnostic of a scope into an exception.
class ErrorCollector {
public:
  // Errors in the file `writtenByUser` are the user's.
  ErrorCollector(MLIRContext &context, std::string writtenByUser)
      : writtenByUser_(std::move(writtenByUser)), location_(UnknownLoc::get(&context)),
        handler_(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && message_.empty()) {
            message_ = diagnostic.str();
            location_ = diagnostic.getLocation();
          }
          return success();
        }) {}

  [[noreturn]] void raise(ErrorKind kind) {
    if (!writtenByUser_.empty() && support::placeOf(location_).file == writtenByUser_)
      kind = ErrorKind::User;
    Error error(message_.empty() ? "a pass failed without a message" : message_, kind);
    support::locate(error, location_);
    throw error;
  }

private:
  std::string writtenByUser_;
  std::string message_;
  Location location_;
  ScopedDiagnosticHandler handler_;
};

// Unit attribute of operators that fusion did not make.
constexpr llvm::StringLiteral ofTextAttributeName = "plan.of_text";

// Replaces bound scalars by literals and attaches the facts of inputs to the function's arguments.
void bindFacts(func::FuncOp function, const PlanConditions &conditions) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  // A part of a block that was split has the block's.
  auto known = function->getAttrOfType<IntegerAttr>(fusion::surroundingBytesAttributeName);
  if (conditions.surroundingBytes > (known ? known.getInt() : 0))
    function->setAttr(fusion::surroundingBytesAttributeName,
                      builder.getI64IntegerAttr(conditions.surroundingBytes));
  for (auto [index, input] : llvm::enumerate(conditions.inputs)) {
    BlockArgument argument = function.getArgument(index);
    if (input.sparseDensity)
      function.setArgAttr(index, analysis::sparseDensityAttributeName,
                          builder.getF64FloatAttr(input.sparseDensity->estimate));
    if (input.isRepeated)
      function.setArgAttr(index, rewrite::repeatedAttributeName, builder.getUnitAttr());
    if (!input.sizes.empty())
      function.setArgAttr(index, tok::sizesAttributeName,
                          tok::sizesAttribute(function.getContext(), input.sizes));
    if (input.cells && input.cells->holds)
      function.setArgAttr(index, tok::cellsAttributeName,
                          tok::cellsAttribute(function.getContext(), input.cells->cells));
    else if (input.cells)
      function.setArgAttr(index, fusion::otherCellsAttributeName, builder.getUnitAttr());
    if (input.kind != PlanConditions::Input::Kind::Bound)
      continue;
    auto literal = [&](auto value) -> Value {
      return builder.create<tok::ConstantOp>(function.getLoc(), value);
    };
    argument.replaceAllUsesWith(input.bound.isBoolean()   ? literal(input.bound.asBoolean())
                                : input.bound.isInteger() ? literal(input.bound.asInteger())
                                                          : literal(input.bound.asDouble()));
  }
}

// Whether the sizes follow from those of the inputs, so that equal ones are proved equal.
bool areDecided(const tok::Facts &facts) {
  return llvm::all_of(facts.dims, [](const Size &size) {
    return !size.isUnknown() &&
           size.everySymbol([](int64_t symbol) { return symbol < analysis::firstOwnSymbol; });
  });
}

// The operations and all operations that depend on them.
SmallVector<Operation *> withDependents(func::FuncOp function, ArrayRef<Operation *> operations) {
  SmallVector<Operation *> dependents;
  llvm::DenseSet<Operation *> members(operations.begin(), operations.end());
  for (Operation &op : function.getBody().front().without_terminator()) {
    bool depends = llvm::any_of(op.getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && members.contains(operand.getDefiningOp());
    });
    if (depends)
      members.insert(&op);
    if (members.contains(&op))
      dependents.push_back(&op);
  }
  return dependents;
}

// The operations whose operands have undecided sizes, and all operations that depend on them.
SmallVector<Operation *> dependsOnUndecided(func::FuncOp function, analysis::FactsAnalysis &facts) {
  SmallVector<Operation *> dependents;
  llvm::DenseSet<Value> undecided;
  for (Operation &op : function.getBody().front().without_terminator()) {
    bool depends =
        llvm::any_of(op.getOperands(), [&](Value operand) { return undecided.contains(operand); });
    if (depends)
      dependents.push_back(&op);
    for (Value result : op.getResults())
      if (depends || (tok::isArray(result.getType()) && !areDecided(facts.factsOf(result))))
        undecided.insert(result);
  }
  return dependents;
}

bool hasUndecided(func::FuncOp function, analysis::FactsAnalysis &facts) {
  return llvm::any_of(function.getBody().front(), [&](Operation &op) {
    return llvm::any_of(op.getResults(), [&](Value value) {
      return tok::isArray(value.getType()) && !areDecided(facts.factsOf(value));
    });
  });
}

// Whether fusion left some cell operation without a plan, because different symbols denote sizes
// that should agree.
bool hasUnplanned(func::FuncOp function) {
  return llvm::any_of(function.getBody().front(), [](Operation &op) {
    return isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp>(op) &&
           tok::isArray(op.getResult(0).getType());
  });
}

// Whether the operands of an operator of the program's text are not proved to have the sizes that it
// declares, because different symbols denote sizes that should agree.
bool hasOpenSizes(func::FuncOp function, llvm::function_ref<const tok::Facts &(Value)> factsOf) {
  return llvm::any_of(function.getOps<plan::OperatorOp>(), [&](plan::OperatorOp op) {
    SmallVector<tok::Facts> operands;
    for (Value operand : op.getInputs())
      operands.push_back(factsOf(operand));
    return !op.hasSizes(operands);
  });
}

// Facts of a block's values, each of which is asked for once. They hold until the block changes.
class KnownFacts {
public:
  explicit KnownFacts(func::FuncOp function)
      : analysis_(std::make_unique<analysis::FactsAnalysis>(function)) {}

  analysis::FactsAnalysis &analysis() { return *analysis_; }
  const tok::Facts &operator()(Value value) {
    auto [entry, inserted] = known_.try_emplace(value);
    if (inserted)
      entry->second = analysis_->factsOf(value);
    return entry->second;
  }

private:
  std::unique_ptr<analysis::FactsAnalysis> analysis_;
  llvm::DenseMap<Value, tok::Facts> known_;
};

// Whether the operation is a native product that treats zeros of a sparse factor as zero whatever
// they are multiplied with.
bool multipliesSparse(Operation &op, analysis::FactsAnalysis &facts) {
  return isa<tok::MatmulOp>(op) && tok::zeroRuleOf(op) == ZeroRule::Sparse &&
         llvm::any_of(op.getOperands(),
                      [&](Value operand) { return facts.factsOf(operand).isSparse(); });
}

} // namespace

CompileSession::CompileSession(const SessionOptions &options, codegen::KernelCompiler &kernels)
    : options_(options), kernels_(kernels), context_(MLIRContext::Threading::DISABLED) {
  context_.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
  context_.printOpOnDiagnostic(false); // users know the script, not MLIR operations
}

Specialization CompileSession::specialize(FrozenBlocks &blocks, int32_t number,
                                          const PlanConditions &conditions,
                                          UnknownSizes unknownSizes, Tier tier) {
  ++specializations_;
  const FrozenBlock &block = blocks[number];
  const bool hasSymbols = conditions.symbolCount > 0;
  ErrorCollector errors(context_, options_.scheduleFile);
  // An operator that the program's text holds may be one that there is no code for.
  bool isOfText = false;
  auto require = [&](LogicalResult result) {
    if (failed(result))
      errors.raise(isOfText ? ErrorKind::User : ErrorKind::Internal);
  };

  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(block.bytecode, ParserConfig(&context_));
  require(success(bool(module)));
  auto function = *module->getOps<func::FuncOp>().begin();
  function.setName(block.name);
  bindFacts(function, conditions);
  if (options_.zeroRule == ZeroRule::Strict)
    function->setAttr(tok::strictZerosAttributeName, UnitAttr::get(&context_));

  auto blockNumber = [&](StringRef name) { return blocks.numberOf(name); };
  if (unknownSizes == UnknownSizes::Apart) {
    Specialization result;
    for (Operation *op : operationsWithKernels(function))
      result.newBlocks.push_back(
          blocks.add(outline(op, blocks.newName(block.name), *module, Literals::Inputs)));
    auto noKernels = [](plan::OperatorOp) -> llvm::FailureOr<runtime::KernelPlan> {
      internalError("an operator is no block of its own");
    };
    auto fragment = lowerFragment(function, blockNumber, noKernels);
    require(fragment);
    result.image = std::make_shared<const runtime::Image>(std::move(*fragment));
    return result;
  }

  PassManager simplification(&context_);
#ifdef NDEBUG
  simplification.enableVerifier(false);
#endif
  simplification.addPass(createCanonicalizerPass());
  simplification.addPass(createCSEPass());
  require(simplification.run(*module));

  rewrite::RuleRunner rules(function);
  // A block is executed as a whole, so each contradiction is an error.
  for (const analysis::Contradiction &contradiction : rules.facts().contradictions()) {
    contradiction.op->emitError(contradiction.message);
    errors.raise(ErrorKind::User);
  }
  for (const rewrite::BlockRule &rule : rewrite::blockRules())
    if (!options_.disabled.contains(rule.name) || rule.required)
      rules.apply(rule);
  require(simplification.run(*module));

  Specialization result;
  result.rules.assign(rules.runs().begin(), rules.runs().end());
  KnownFacts facts(function);
  // Makes operations that are planned later a block of their own. The call of a block that was
  // split off before may be among them: it remains here, after the call of the new block, because
  // blocks can't call blocks.
  auto split = [&](ArrayRef<Operation *> operations) {
    Operation *terminator = function.getBody().front().getTerminator();
    SmallVector<Operation *> members, calls;
    for (Operation *op : operations) {
      (isa<tok::ExecuteOp>(op) ? calls : members).push_back(op);
      op->moveBefore(terminator);
    }
    if (!members.empty())
      result.newBlocks.push_back(blocks.add(outline(members, blocks.newName(block.name), *module)));
    for (Operation *call : calls)
      call->moveBefore(terminator);
    facts = KnownFacts(function);
  };
  // Where sizes keep changing, natives convolve images of any size.
  if (hasSymbols && !conditions.mayCoincide && unknownSizes == UnknownSizes::Reject &&
      fusion::convolvesUnknownWindows(function, facts))
    return result;
  if (hasUndecided(function, facts.analysis())) {
    if (unknownSizes == UnknownSizes::Reject)
      return result;
    split(dependsOnUndecided(function, facts.analysis()));
  }

  if (fusion::WantedCells wanted = fusion::findWantedCells(function, facts)) {
    result.wantedCells = wanted.inputs;
    if (!wanted.inputs.empty())
      return result;
    split(withDependents(function, wanted.readers));
  }
  if (hasSymbols && hasOpenSizes(function, facts))
    return Specialization();
  for (auto op : function.getOps<plan::OperatorOp>())
    op->setAttr(ofTextAttributeName, UnitAttr::get(&context_));
  // False if sizes that should agree are different symbols.
  auto fuse = [&](func::FuncOp function, KnownFacts &facts,
                  const fusion::FusionOptions &fusionOptions, Specialization &result) {
    require(fusion::fuseBlock(function, facts, fusionOptions));
    if (hasSymbols && hasUnplanned(function))
      return false;
    function.walk([&](Operation *op) {
      if (op->hasAttr(fusion::zeroRuleAttributeName) || multipliesSparse(*op, facts.analysis()))
        result.zeroRuleUses.push_back(support::placeOf(op->getLoc()));
    });
    for (const rewrite::BlockRule &rule : rewrite::rulesAfterFusion())
      if (!options_.disabled.contains(rule.name))
        result.rules.push_back(rewrite::applyRule(rule, function, facts.analysis()));
    makeOperatorsGeneral(function, fusionOptions.selector == fusion::Selector::None
                                       ? Generality::All
                                       : Generality::Small);
    // Erase literals that were only used by kernels.
    function.walk([](tok::ConstantOp constant) {
      if (constant.use_empty())
        constant.erase();
    });
    return true;
  };
  OwningOpRef<ModuleOp> copy;
  if (double compiling = compilingNanoseconds(function);
      tier == Tier::BuiltIn && touchingNanoseconds(function, facts) <= compiling) {
    copy = module->clone();
    auto alone = copy->lookupSymbol<func::FuncOp>(function.getName());
    KnownFacts factsOfAlone(alone);
    Specialization attempt = result;
    // Where sizes keep changing, kernels would be compiled for a plan that another one soon replaces.
    const bool mayCompile = !hasSymbols;
    if (fuse(alone, factsOfAlone, {fusion::Selector::None, &fixedMachine()}, attempt))
      if (std::optional<BuiltInRun> run = builtInRun(alone, kernels_, compiling, mayCompile)) {
        result = std::move(attempt);
        result.builtIn = run;
        function = alone;
        // They were those of the fixed model, which decided; reports are of this machine's.
        for (Operation &op : alone.getBody().front())
          fusion::forgetPrediction(&op);
      }
  }
  if (!result.builtIn && !fuse(function, facts,
                               {options_.selector, &options_.machine(),
                                options_.explainFusion ? &result.explanation : nullptr,
                                options_.collectFacts ? &result.facts : nullptr},
                               result))
    return Specialization();
  result.compiledPays = tier == Tier::BuiltIn && !result.builtIn;
#ifndef NDEBUG
  require(verify(function));
#endif
  SmallVector<plan::OperatorOp> operators(function.getOps<plan::OperatorOp>());
  llvm::DenseMap<Operation *, runtime::KernelPlan> kernels;
  for (auto [op, kernel] : llvm::zip(operators, kernels_.compile(operators))) {
    isOfText = failed(kernel) && op->hasAttr(ofTextAttributeName);
    require(kernel);
    kernel->prediction = fusion::predictionOf(op);
    if (auto number = op->getAttrOfType<IntegerAttr>(fusion::operatorNumberAttributeName))
      result.kernels[number.getInt()] = kernel->name;
    result.kernelKeys[kernel->name] = codegen::KernelCompiler::keyOf(op);
    kernels.try_emplace(op, std::move(*kernel));
  }
  auto fragment =
      lowerFragment(function, blockNumber, [&](plan::OperatorOp op) { return kernels.lookup(op); });
  require(fragment);
  result.image = std::make_shared<const runtime::Image>(std::move(*fragment));
  return result;
}
