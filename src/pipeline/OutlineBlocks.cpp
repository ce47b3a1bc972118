#include "pipeline/OutlineBlocks.h"

#include "analysis/FactsAnalysis.h"
#include "fusion/explore/BlockGraph.h"
#include "ir/plan/PlanDialect.h"
#include "pipeline/ExpectedSizes.h"
#include "support/SourceLocations.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

namespace {

// Whether the operation may become part of a kernel: cell operations, aggregates, products and
// transpositions of arrays, and operators of the program's text. Natives alone need no plan: the image calls them.
bool needsPlan(Operation *op) {
  if (isa<plan::OperatorOp>(op))
    return true;
  auto array = [](Type type) { return tok::isArray(type); };
  return isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::AggregateOp, tok::MatmulOp,
             tok::TransposeOp>(op) &&
         (llvm::any_of(op->getOperandTypes(), array) || llvm::any_of(op->getResultTypes(), array));
}

// Whether each block that uses the operation has a copy: numbers, and arrays of few cells written out, which may say
// what sizes others have.
bool isCopied(Operation *op) {
  constexpr int64_t mostCellsInPlans = 64;
  auto literal = dyn_cast<tok::LiteralOp>(op);
  return isa<tok::ConstantOp>(op) ||
         (literal && literal.getCells().getNumElements() <= mostCellsInPlans);
}

// Of a loop or a function, if it is known.
std::optional<int64_t> loopOperationsOf(Operation *op) {
  auto count = op->getAttrOfType<IntegerAttr>(fusion::loopOperationsAttributeName);
  return count ? std::optional(count.getInt()) : std::nullopt;
}

// Of the innermost loop around the operation, which may be around its function.
std::optional<int64_t> loopOperationsAround(Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  return loopOperationsOf(loop ? loop.getOperation()
                               : op->getParentOfType<func::FuncOp>().getOperation());
}

// Whether the operation may be part of a block: it has no side effects, regions or control flow,
// and no operands or results that are lists, frames or scalars of unknown type.
bool isPlannable(Operation *op) {
  if ((op->getNumRegions() != 0 && !isa<plan::OperatorOp>(op)) ||
      op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op) || isa<tok::UndefOp>(op) ||
      op->hasAttr(updatesAttributeName))
    return false;
  auto supported = [](Type type) {
    return tok::isArray(type) || tok::isNumber(type) || isa<NoneType, tok::StringType>(type);
  };
  return llvm::all_of(op->getOperandTypes(), supported) &&
         llvm::all_of(op->getResultTypes(), supported);
}

// Whether the operation becomes part of an operator where there are others beside it.
bool mayBePartOfOperator(Operation *op) {
  if (auto native = dyn_cast<tok::CallNativeOp>(op))
    return native.getCumulativeKind() || native.getNative() == "convolve";
  // What says how long a sequence is: nrow(X) as a double.
  if (isa<tok::RowsOp, tok::ColumnsOp, tok::CastOp>(op))
    return llvm::any_of(op->getUsers(), [](Operation *user) {
      return isa<tok::SeqOp>(user) || (isa<tok::CastOp>(user) && mayBePartOfOperator(user));
    });
  if (auto sequence = dyn_cast<tok::SeqOp>(op)) {
    auto step = sequence.getBy().getDefiningOp<tok::ConstantOp>();
    auto number = step ? dyn_cast<FloatAttr>(step.getValue()) : FloatAttr();
    return step && (!number || std::abs(number.getValueAsDouble()) == 1);
  }
  return isa<tok::ReplaceOp, tok::OuterOp, tok::CbindOp>(op);
}

// The slices at the beginning of the run whose bounds are constants or computed from sizes, with the operations that compute
// those. Bounds that depend on other numbers are known to the image, but plans may not know them: such a slice at a block's
// beginning stays outside.
llvm::SmallPtrSet<Operation *, 16> slicesOfKnownParts(ArrayRef<Operation *> run) {
  llvm::SmallPtrSet<Operation *, 16> known; // computed from sizes
  llvm::SmallPtrSet<Operation *, 16> found;
  auto isKnown = [&](Value value) {
    Operation *definition = value.getDefiningOp();
    return definition && (isa<tok::ConstantOp>(definition) || known.contains(definition));
  };
  for (Operation *op : run) {
    bool isSize = isa<tok::RowsOp, tok::ColumnsOp, tok::SizeOp>(op);
    bool isArithmetic = isa<tok::CastOp, tok::BinaryOp, tok::UnaryOp>(op) &&
                        llvm::all_of(op->getResultTypes(), tok::isNumber);
    if (isSize || (isArithmetic && llvm::all_of(op->getOperands(), isKnown)))
      known.insert(op);
    if (auto slice = dyn_cast<tok::SliceOp>(op);
        slice && llvm::all_of(slice->getOperands().drop_front(), isKnown)) {
      SmallVector<Operation *> needed = {slice};
      while (!needed.empty()) {
        Operation *each = needed.pop_back_val();
        if (!found.insert(each).second)
          continue;
        for (Value operand : each->getOperands().drop_front(each == slice ? 1 : 0))
          if (Operation *definition = operand.getDefiningOp(); known.contains(definition))
            needed.push_back(definition);
      }
    }
  }
  return found;
}

// Whether the value is invariant in the innermost loop around `op`, and in all parfors around it.
bool isInvariantAround(Value value, Operation *op) {
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  if (!loop)
    return true;
  for (auto parfor = op->getParentOfType<tok::ParForOp>(); parfor;
       parfor = parfor->getParentOfType<tok::ParForOp>())
    if (!LoopLikeOpInterface(parfor).isDefinedOutsideOfLoop(value))
      return false;
  return loop.isDefinedOutsideOfLoop(value);
}

// The variable that holds the value in the script; empty if none is known.
StringRef variableOf(Value value) {
  if (auto execute = value.getDefiningOp<tok::ExecuteOp>()) {
    auto names = execute->getAttrOfType<ArrayAttr>(namesAttributeName);
    return cast<StringAttr>(names[cast<OpResult>(value).getResultNumber()]).getValue();
  }
  if (auto loop = value.getDefiningOp<LoopLikeOpInterface>())
    if (BlockArgument carried = loop.getTiedLoopRegionIterArg(cast<OpResult>(value)))
      return variableOf(carried);
  if (auto branch = value.getDefiningOp<tok::IfOp>())
    return variableOf(branch.getThenRegion().front().getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber()));
  return support::variableAt(value.getLoc());
}

// Converts a scalar operand of a matrix operation to a number. A native does it, because a cast
// would parse a string as a number, while a string combined with a matrix has to be an error.
Value numberBesideMatrix(OpBuilder &builder, Operation *op, Value scalar) {
  std::string_view name;
  if (auto binary = dyn_cast<tok::BinaryOp>(op))
    name = spelling(binary.getKind());
  Value operatorName = builder.create<tok::ConstantOp>(op->getLoc(), StringRef(name));
  return builder
      .create<tok::CallNativeOp>(op->getLoc(), TypeRange(builder.getF64Type()),
                                 "number_beside_matrix", ValueRange{scalar, operatorName})
      .getResult(0);
}

// Kernels take scalar operands as f64, so scalars whose type is only known at run time are
// converted before the operation.
void convertScalarsOfUnknownType(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!needsPlan(op))
      return;
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<tok::ScalarType>(operand.get().getType()))
        operand.set(numberBesideMatrix(builder, op, operand.get()));
  });
}

// Planning time grows faster than the size of a block, because plans of the whole block are
// compared. So longer runs are cut, at the size of the largest kernels
// (fusion/select/OperatorPool.cpp).
constexpr size_t mostOperations = 256;

// How many operations of a run of more than `mostOperations` become the next block: at least half
// of `mostOperations`, up to the cut that the fewest arrays are live across.
size_t lengthOfNextBlock(ArrayRef<Operation *> run) {
  llvm::DenseMap<Operation *, size_t> positions;
  for (auto [position, op] : llvm::enumerate(run.take_front(mostOperations)))
    positions[op] = position;
  // The position of the last user of a result; mostOperations if it is outside the candidates.
  auto lastRead = [&](Operation *op) {
    size_t last = positions[op];
    for (Operation *user : op->getUsers()) {
      auto found = positions.find(user);
      last = std::max(last, found == positions.end() ? mostOperations : found->second);
    }
    return last;
  };
  SmallVector<int> released(mostOperations + 1, 0);
  int stored = 0, fewest = std::numeric_limits<int>::max();
  size_t length = mostOperations;
  for (size_t position = 0; position < mostOperations; ++position) {
    Operation *op = run[position];
    if (llvm::any_of(op->getResultTypes(), tok::isArray)) {
      ++stored;
      ++released[lastRead(op)];
    }
    stored -= released[position];
    if (position + 1 >= mostOperations / 2 && stored <= fewest) {
      fewest = stored;
      length = position + 1;
    }
  }
  return length;
}

class Outliner {
public:
  explicit Outliner(ModuleOp module) : module_(module) {}

  void run() {
    markLoops();
    SmallVector<func::FuncOp> functions(module_.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      function.walk([&](mlir::Block *block) { blocks_.push_back(block); });
    for (mlir::Block *block : blocks_)
      outlineRuns(*block);
    module_.walk(
        [](LoopLikeOpInterface loop) { loop->removeAttr(fusion::loopOperationsAttributeName); });
  }

private:
  // Counts operations of loops; functions that loops call are in the smallest of these, and so are functions that they
  // call. One that calls itself is in a loop of all that it does.
  void markLoops() {
    SymbolTable symbols(module_);
    auto mark = [&](Operation *op, int64_t count) {
      op->setAttr(fusion::loopOperationsAttributeName,
                  OpBuilder(op->getContext()).getI64IntegerAttr(count));
    };
    module_.walk([&](LoopLikeOpInterface loop) { mark(loop, arrayOperationsIn(loop, symbols)); });
    for (bool changed = true; changed;) {
      changed = false;
      module_.walk([&](tok::CallOp call) {
        auto caller = call->getParentOfType<func::FuncOp>(),
             callee = symbols.lookup<func::FuncOp>(call.getCallee());
        std::optional<int64_t> count = loopOperationsAround(call);
        if (!count && caller == callee)
          count = arrayOperationsIn(caller, symbols);
        if (!callee || !count || *count >= loopOperationsOf(callee).value_or(INT64_MAX))
          return;
        mark(callee, *count);
        changed = true;
      });
    }
  }

  // Operations on arrays, with those of functions that are called, each function once.
  static int64_t arrayOperationsIn(Operation *region, SymbolTable &symbols) {
    auto isArray = [](Type type) { return tok::isArray(type); };
    int64_t count = 0;
    llvm::SetVector<Operation *> regions;
    regions.insert(region);
    for (size_t next = 0; next < regions.size(); ++next) // the set grows meanwhile
      regions[next]->walk([&](Operation *op) {
        if (auto call = dyn_cast<tok::CallOp>(op)) {
          if (Operation *callee = symbols.lookup(call.getCallee()))
            regions.insert(callee);
        } else if (op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>()) {
          count += llvm::any_of(op->getOperandTypes(), isArray) ||
                   llvm::any_of(op->getResultTypes(), isArray);
        }
      });
    return count;
  }

  void outlineRuns(mlir::Block &block) {
    SmallVector<Operation *> run;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // Large arrays written out, a model's weights, stay in the image: plans had better not hold them.
      if (isCopied(&op) || isa<tok::LiteralOp>(op))
        continue;
      if (isPlannable(&op)) {
        run.push_back(&op);
        continue;
      }
      finish(run);
    }
    finish(run);
  }

  void finish(SmallVector<Operation *> &run) {
    ArrayRef<Operation *> rest = run;
    while (rest.size() > mostOperations) {
      size_t length = lengthOfNextBlock(rest);
      outlineTrimmed(rest.take_front(length));
      rest = rest.drop_front(length);
    }
    outlineTrimmed(rest);
    run.clear();
  }

  // A block extends from the first to the last operation that needs a plan; other operations before
  // and after, which natives compute anyway, remain in the image.
  void outlineTrimmed(ArrayRef<Operation *> run) {
    if (llvm::none_of(run, needsPlan))
      return;
    llvm::SmallPtrSet<Operation *, 16> slices = slicesOfKnownParts(run);
    auto belongs = [](Operation *op) { return needsPlan(op) || mayBePartOfOperator(op); };
    run = run.drop_until([&](Operation *op) { return belongs(op) || slices.contains(op); });
    while (!belongs(run.back()))
      run = run.drop_back();
    outline(run, "block_" + std::to_string(next_++), module_);
  }

  ModuleOp module_;
  SmallVector<mlir::Block *> blocks_;
  int next_ = 0;
};

} // namespace

func::FuncOp pipeline::outline(ArrayRef<Operation *> operations, StringRef name, ModuleOp module,
                               Literals literals) {
  llvm::SmallPtrSet<Operation *, 16> members(operations.begin(), operations.end());
  llvm::SetVector<Value> inputs, outputs;
  llvm::SetVector<Operation *> constants;
  for (Operation *op : operations) {
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && members.contains(definition))
        continue;
      bool isInput = literals == Literals::Inputs && isa_and_nonnull<tok::LiteralOp>(definition);
      if (definition && isCopied(definition) && !isInput)
        constants.insert(definition);
      else
        inputs.insert(operand);
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            // A user nested in a region op counts as outside: members have no regions.
            return !members.contains(user);
          }))
        outputs.insert(result);
  }

  Location location = operations.front()->getLoc();
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  auto typesOf = [](auto &values) {
    return llvm::map_to_vector(values, [](Value value) { return value.getType(); });
  };
  auto type = builder.getFunctionType(typesOf(inputs), typesOf(outputs));
  auto function = builder.create<func::FuncOp>(location, name, type);
  function.setPrivate();
  function->setAttr(blockAttributeName, builder.getUnitAttr());
  auto parent = operations.front()->getParentOfType<func::FuncOp>();
  if (parent->hasAttr(tok::manySizesAttributeName))
    function->setAttr(tok::manySizesAttributeName, builder.getUnitAttr());
  if (std::optional<int64_t> count = loopOperationsAround(operations.front()))
    function->setAttr(fusion::loopOperationsAttributeName, builder.getI64IntegerAttr(*count));
  if (Attribute bytes = parent->getAttr(fusion::surroundingBytesAttributeName))
    function->setAttr(fusion::surroundingBytesAttributeName, bytes);
  SmallVector<bool> bind;
  for (Value input : inputs)
    bind.push_back(tok::isNumber(input.getType()) && isInvariantAround(input, operations.front()));
  function->setAttr(bindAttributeName, builder.getDenseBoolArrayAttr(bind));
  mlir::Block *entry = function.addEntryBlock();

  OpBuilder after(operations.back());
  after.setInsertionPointAfter(operations.back());
  auto execute =
      after.create<tok::ExecuteOp>(location, type.getResults(), name, inputs.getArrayRef());
  execute->setAttr(namesAttributeName,
                   builder.getStrArrayAttr(llvm::map_to_vector(outputs, variableOf)));
  for (auto [input, argument] : llvm::zip(inputs, entry->getArguments()))
    argument.setLoc(
        NameLoc::get(builder.getStringAttr(variableOf(input)), builder.getUnknownLoc()));
  for (auto [output, result] : llvm::zip(outputs, execute.getResults()))
    Value(output).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !members.contains(use.getOwner()) && use.getOwner() != execute;
    });

  IRMapping mapping;
  builder.setInsertionPointToStart(entry);
  for (Operation *constant : constants)
    mapping.map(constant->getResult(0), builder.clone(*constant)->getResult(0));
  for (auto [input, argument] : llvm::zip(inputs, entry->getArguments()))
    mapping.map(input, argument);
  for (Operation *op : operations) {
    op->moveBefore(entry, entry->end());
    op->removeAttr(writtenAttributeName);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(mapping.lookupOrDefault(operand.get()));
  }
  builder.setInsertionPointToEnd(entry);
  builder.create<func::ReturnOp>(location, outputs.getArrayRef());
  return function;
}

// The sizes that blocks' inputs are expected to have, if a program's are known (expectedSizesAttributeName).
static void expectSizes(ModuleOp module, analysis::FactsAnalysis &facts) {
  auto blockOf = [&](tok::ExecuteOp execute) {
    return module.lookupSymbol<func::FuncOp>(execute.getBlock());
  };
  // What the analysis has seen: results of blocks were those of operations that blocks now hold.
  auto seen = [&](Value value) {
    auto execute = value.getDefiningOp<tok::ExecuteOp>();
    return execute ? blockOf(execute).front().getTerminator()->getOperand(
                         cast<OpResult>(value).getResultNumber())
                   : value;
  };
  module.walk([&](tok::ExecuteOp execute) {
    for (auto [number, input] : llvm::enumerate(execute.getInputs())) {
      tok::Facts known = facts.factsOf(seen(input));
      SmallVector<Size, 2> sizes = known.dims;
      if (input.getType().isInteger(64))
        sizes = {known.integer};
      if (!sizes.empty())
        blockOf(execute).setArgAttr(number, tok::expectedSizesAttributeName,
                                    tok::sizesAttribute(module.getContext(), sizes));
    }
  });
}

static bool hasExpectedSizes(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned argument) {
      return function.getArgAttr(argument, tok::expectedSizesAttributeName);
    });
  });
}

void pipeline::outlineBlocks(ModuleOp module) {
  convertScalarsOfUnknownType(module);
  std::optional<analysis::FactsAnalysis> expected;
  const bool isPlannedAhead = module->hasAttr(sizesAgreeAttributeName);
  if (isPlannedAhead)
    agreeOnExpectedSizes(module);
  if (isPlannedAhead || hasExpectedSizes(module))
    expected.emplace(module, analysis::FactsAnalysis::Arguments::Expected);
  Outliner(module).run();
  if (expected)
    expectSizes(module, *expected);
  // Erase what was only used by blocks, which have copies.
  module.walk([](Operation *op) {
    if (isCopied(op) && op->use_empty())
      op->erase();
  });
}
