#include "pipeline/LowerToImage.h"

#include "fusion/select/BuildOperators.h"
#include "ir/tok/ElementTypes.h"
#include "ir/tok/TokDialect.h"
#include "pipeline/OutlineBlocks.h"
#include "pipeline/ParforResults.h"
#include "support/SourceLocations.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;
using runtime::Image;
using runtime::ImageFunction;
using runtime::Instruction;
using runtime::Opcode;
using runtime::Slot;

namespace {

// The tables of an image that all its functions share.
struct ImageParts {
  explicit ImageParts(Image &image) : image(image) {
    image.places.emplace_back();
    image.callers.emplace_back();
  }

  int32_t native(StringRef name) {
    auto [entry, inserted] = natives.try_emplace(name, image.natives.size());
    if (inserted)
      image.natives.push_back(runtime::findNative({name.data(), name.size()}));
    return image.natives[entry->second] ? entry->second : -1;
  }

  // Equal locations share an entry: MLIR makes them unique.
  int32_t place(Location location) {
    auto [entry, inserted] = places.try_emplace(location, 0);
    if (!inserted)
      return entry->second;
    std::vector<SourcePlace> places = support::placesOf(location);
    if (!places.empty() && places.front().isKnown()) {
      entry->second = image.places.size();
      image.places.push_back(places.front());
      image.callers.emplace_back(std::next(places.begin()), places.end());
    }
    return entry->second;
  }

  Image &image;
  llvm::StringMap<int32_t> natives;
  llvm::StringMap<int32_t> functions;
  llvm::DenseMap<Location, int32_t> places;
  int32_t loops = 0; // numbered so far
};

class FunctionLowering {
public:
  FunctionLowering(ImageParts &parts, ImageFunction &out, BlockNumber blockNumber,
                   KernelOf kernelOf)
      : parts_(parts), out_(out), blockNumber_(blockNumber), kernelOf_(kernelOf) {}

  LogicalResult lower(func::FuncOp function) {
    out_.name = function.getName().str();
    out_.parameterCount = function.getNumArguments();
    out_.resultCount = function.getNumResults();
    for (BlockArgument argument : function.getArguments())
      slotOf(argument);
    if (failed(lowerBlock(function.getBody().front())))
      return failure();
    out_.slotCount = nextSlot_;
    return success();
  }

  // One iteration of a parallel loop: (counter, carried..., captured...) -> carried...
  LogicalResult lowerIteration(tok::ParForOp loop, ArrayRef<Value> captured, std::string name) {
    mlir::Block &body = loop.getBodyRegion().front();
    out_.name = std::move(name);
    out_.parameterCount = body.getNumArguments() + captured.size();
    out_.resultCount = loop->getNumResults();
    for (BlockArgument argument : body.getArguments())
      slotOf(argument);
    for (Value value : captured)
      slotOf(value);
    if (failed(lowerBlock(body)))
      return failure();
    Operation *yield = body.getTerminator();
    emit(Opcode::Return, slotsOf(yield->getOperands()), {}).lastUse =
        lastUses(yield, yield->getOperands());
    out_.slotCount = nextSlot_;
    return success();
  }

private:
  Slot slotOf(Value value) {
    auto [entry, inserted] = slots_.try_emplace(value, nextSlot_);
    if (inserted)
      ++nextSlot_;
    return entry->second;
  }

  SmallVector<Slot> slotsOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return slotOf(value); });
  }

  Instruction &emit(Opcode opcode, ArrayRef<Slot> operands, ArrayRef<Slot> results,
                    int32_t index = 0) {
    Instruction instruction{opcode};
    instruction.index = index;
    instruction.operandBegin = out_.slots.size();
    instruction.operandCount = operands.size();
    out_.slots.insert(out_.slots.end(), operands.begin(), operands.end());
    instruction.resultBegin = out_.slots.size();
    instruction.resultCount = results.size();
    out_.slots.insert(out_.slots.end(), results.begin(), results.end());
    instruction.place = place_;
    out_.instructions.push_back(instruction);
    return out_.instructions.back();
  }

  int32_t here() const { return out_.instructions.size(); }

  // Of each block in which a value is used: the last operation that uses it, or contains one that does. Found once:
  // a long program may use a value in as many loops as it has lines.
  using LastUsers = llvm::SmallDenseMap<mlir::Block *, Operation *, 1>;
  const LastUsers &lastUsersOf(Value value) {
    auto [place, isNew] = lastUsers_.try_emplace(value);
    LastUsers &last = place->second;
    if (!isNew)
      return last;
    for (Operation *user : value.getUsers())
      for (Operation *at = user;; at = at->getParentOp()) {
        Operation *&known = last[at->getBlock()];
        if (!known || known->isBeforeInBlock(at))
          known = at;
        if (at->getBlock() == value.getParentBlock())
          break;
      }
    return last;
  }

  // Whether the value is dead after `op`: it has no later use, neither in the region of `op` nor
  // after the enclosing operations. Values that a loop body uses from outside are live until the
  // loop ends, because the next iteration needs them.
  bool diesAt(Value value, Operation *op) {
    mlir::Block *home = value.getParentBlock();
    const LastUsers &last = lastUsersOf(value);
    for (Operation *at = op;; at = at->getParentOp()) {
      if (Operation *user = last.lookup(at->getBlock()); user && at->isBeforeInBlock(user))
        return false;
      if (at->getBlock() == home)
        return true;
      if (!isa<tok::IfOp>(at->getParentOp()))
        return false;
    }
  }

  // Bit i is set where `op` uses the i-th of the values it `reads` last. Of a value that it reads
  // twice, only the last occurrence may be consumed.
  uint64_t lastUses(Operation *op, ValueRange reads) {
    uint64_t bits = 0;
    unsigned count = std::min<unsigned>(reads.size(), 64);
    for (unsigned i = 0; i < count; ++i) {
      bool again = llvm::is_contained(reads.drop_front(i + 1), reads[i]);
      if (!again && diesAt(reads[i], op))
        bits |= uint64_t{1} << i;
    }
    return bits;
  }

  // Frees the values whose last use was in the regions of `op`, or by an instruction that only reads
  // them, and results without uses.
  void freeAfter(Operation *op) {
    SmallVector<Slot> dead;
    for (Value value : onlyRead_)
      dead.push_back(slotOf(value));
    onlyRead_.clear();
    if (op->getNumRegions() != 0) {
      llvm::SetVector<Value> used;
      op->walk(
          [&](Operation *inner) { used.insert(inner->operand_begin(), inner->operand_end()); });
      for (Value value : used)
        if (value.getParentBlock() == op->getBlock() && diesAt(value, op))
          dead.push_back(slotOf(value));
    }
    for (Value result : op->getResults())
      if (result.use_empty())
        dead.push_back(slotOf(result));
    if (!dead.empty())
      emit(Opcode::Free, dead, {});
  }

  // Assigns `values` to `targets` in parallel: a value whose slot is itself a target is copied to a
  // temporary slot first. Slots of values that die here are moved from, except that of `keep`.
  void assign(Operation *op, ValueRange values, ArrayRef<Slot> targets, Value keep = {}) {
    SmallVector<std::pair<Slot, Slot>> late; // temporary, target
    SmallVector<std::tuple<Slot, Slot, bool>> direct;
    for (auto [i, value] : llvm::enumerate(values)) {
      Slot source = slotOf(value), target = targets[i];
      if (source == target)
        continue;
      if (llvm::is_contained(targets, source)) {
        Slot temporary = nextSlot_++;
        emit(Opcode::Copy, {source}, {temporary});
        late.push_back({temporary, target});
        continue;
      }
      // A loop reads its bounds and the values that its body uses from outside until it ends.
      bool usedLater =
          op->getNumRegions() != 0
              ? !llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; }) ||
                    llvm::count(op->getOperands(), value) != 1
              : llvm::is_contained(values.drop_front(i + 1), value);
      bool dies = value != keep && !usedLater && diesAt(value, op) &&
                  (!isa<tok::YieldOp, tok::ConditionOp>(op) || isa<tok::IfOp>(op->getParentOp()) ||
                   !isCarried(value));
      direct.push_back({source, target, dies});
    }
    for (auto [source, target, dies] : direct)
      emit(dies ? Opcode::Move : Opcode::Copy, {source}, {target});
    for (auto [temporary, target] : late)
      emit(Opcode::Move, {temporary}, {target});
  }

  bool isCarried(Value value) {
    return isa<BlockArgument>(value) && carried_.contains(slotOf(value));
  }

  LogicalResult lowerBlock(mlir::Block &block) {
    for (Operation &op : block.without_terminator()) {
      place_ = parts_.place(op.getLoc());
      if (failed(lowerOperation(&op)))
        return failure();
      freeAfter(&op);
    }
    Operation *terminator = block.getTerminator();
    if (isa<func::ReturnOp>(terminator)) {
      place_ = parts_.place(terminator->getLoc());
      emit(Opcode::Return, slotsOf(terminator->getOperands()), {}).lastUse =
          lastUses(terminator, terminator->getOperands());
    }
    return success();
  }

  LogicalResult lowerOperation(Operation *op);
  LogicalResult lowerIf(tok::IfOp op);
  LogicalResult lowerWhile(tok::WhileOp op);
  LogicalResult lowerParallelLoop(tok::ParForOp op);
  LogicalResult lowerLoop(Operation *op, Region &body, ValueRange bounds, ValueRange inits);
  LogicalResult simple(Operation *op, Opcode opcode, int32_t index = 0) {
    Instruction &instruction =
        emit(opcode, slotsOf(op->getOperands()), slotsOf(op->getResults()), index);
    if (runtime::mayConsume(opcode))
      instruction.lastUse = lastUses(op, op->getOperands());
    for (auto [i, value] : llvm::enumerate(op->getOperands()))
      if (bool isConsumed = i < 64 && (instruction.lastUse >> i & 1) != 0;
          !isConsumed && !tok::isScalar(value.getType()) && diesAt(value, op) &&
          !llvm::is_contained(op->getOperands().drop_front(i + 1), value))
        onlyRead_.push_back(value);
    if (Prediction prediction = fusion::predictionOf(op); prediction.nanoseconds > 0) {
      parts_.image.predictions.push_back(prediction);
      instruction.prediction = static_cast<int32_t>(parts_.image.predictions.size());
    }
    auto array = llvm::find_if(op->getResultTypes(), tok::isArray);
    if (array != op->getResultTypes().end())
      instruction.elementType = *tok::elementTypeOf(*array);
    return success();
  }

  ImageParts &parts_;
  ImageFunction &out_;
  BlockNumber blockNumber_;
  KernelOf kernelOf_;
  SmallVector<Value> onlyRead_; // that the operation lowered last uses last
  llvm::DenseMap<Value, Slot> slots_;
  llvm::DenseSet<Slot> carried_;
  llvm::DenseMap<Value, LastUsers> lastUsers_;
  llvm::DenseSet<Operation *> isRead_; // casts whose number was read from a matrix already
  Slot nextSlot_ = 0;
  int32_t place_ = 0;
};

runtime::Value constantValue(tok::ConstantOp op) {
  Attribute value = op.getValue();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.getValue().str();
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return op.getType().isInteger(1) ? runtime::Value(integer.getValue().getBoolValue())
                                     : runtime::Value(integer.getInt());
  return {};
}

runtime::Value literalValue(tok::LiteralOp op) {
  ElementType type = *tok::elementTypeOf(op.getType());
  runtime::ArrayPointer array =
      runtime::Array::create(runtime::Shape(op.getCells().getShapedType().getShape()), type);
  auto dense = cast<DenseElementsAttr>(op.getCells());
  if (!dense.isSplat() && type != ElementType::Bool) { // of which attributes pack eight into a byte
    llvm::copy(dense.getRawData(), reinterpret_cast<char *>(array->mutableBytes()));
    return array;
  }
  withCellSize(type, [&]<typename Bits>() {
    auto *next = array->mutableCellsAs<Bits>();
    if (auto integers = dyn_cast<DenseIntElementsAttr>(op.getCells()))
      for (const APInt &cell : integers.getValues<APInt>())
        *next++ = static_cast<Bits>(cell.getZExtValue());
    else
      for (const APFloat &cell : cast<DenseFPElementsAttr>(op.getCells()))
        *next++ = static_cast<Bits>(cell.bitcastToAPInt().getZExtValue());
  });
  return array;
}

runtime::CastTarget castTarget(Type type) {
  if (type.isInteger(1))
    return runtime::CastTarget::Boolean;
  if (type.isInteger(64))
    return runtime::CastTarget::Integer;
  if (type.isF64())
    return runtime::CastTarget::Double;
  if (isa<tok::StringType>(type))
    return runtime::CastTarget::Text;
  if (tok::isArray(type))
    return runtime::CastTarget::Matrix;
  if (isa<tok::ListType>(type))
    return runtime::CastTarget::List;
  return isa<tok::FrameType>(type) ? runtime::CastTarget::Frame : runtime::CastTarget::Scalar;
}

// Whether the ranges of a slice or insertion are one row and one column of a matrix.
template <typename Op> bool isOneCell(Op op) {
  return tok::isArray(op->getOperand(0).getType()) && op.getRowBegin() == op.getRowEnd() &&
         op.getColumnBegin() == op.getColumnEnd();
}

// The only reader of X[i, j], if it takes the cell as a double.
tok::CastOp readingOneCell(tok::SliceOp slice) {
  if (!isOneCell(slice) || !slice.getResult().hasOneUse())
    return {};
  auto cast = dyn_cast<tok::CastOp>(*slice.getResult().user_begin());
  bool isHere = cast && cast->getBlock() == slice->getBlock() && cast.getType().isF64();
  return isHere ? cast : tok::CastOp();
}

} // namespace

LogicalResult FunctionLowering::lowerOperation(Operation *op) {
  auto constant = [&](runtime::Value value) {
    parts_.image.constants.push_back(std::move(value));
    emit(Opcode::Constant, {}, slotsOf(op->getResults()), parts_.image.constants.size() - 1);
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tok::ConstantOp op) { return constant(constantValue(op)); })
      .Case([&](tok::UndefOp op) { return constant(runtime::Undefined{op.getVariable().str()}); })
      .Case([&](tok::UnaryOp unary) {
        return tok::isArray(unary.getType()) ? LogicalResult(op->emitOpError("is not planned"))
                                             : simple(op, Opcode::Unary, unary.getCellOperator());
      })
      .Case([&](tok::BinaryOp binary) {
        return tok::isArray(binary.getType())
                   ? LogicalResult(op->emitOpError("is not planned"))
                   : simple(op, Opcode::Binary, binary.getCellOperator());
      })
      .Case([&](tok::IfElseOp choice) {
        return tok::isArray(choice.getType()) ? LogicalResult(op->emitOpError("is not planned"))
                                              : simple(op, Opcode::IfElse);
      })
      .Case([&](tok::ConcatOp) { return simple(op, Opcode::Concat); })
      .Case([&](tok::CastOp cast) {
        if (isRead_.contains(cast))
          return success();
        return simple(op, Opcode::Cast, int32_t(castTarget(cast.getType())));
      })
      .Case([&](tok::RowsOp) { return simple(op, Opcode::Rows); })
      .Case([&](tok::ColumnsOp) { return simple(op, Opcode::Columns); })
      .Case([&](tok::LengthOp) { return simple(op, Opcode::Length); })
      .Case([&](tok::SizeOp size) {
        return simple(op, Opcode::Size, static_cast<int32_t>(size.getDimension()) - 1);
      })
      .Case([&](tok::LiteralOp literal) { return constant(literalValue(literal)); })
      .Case([&](tok::AssumeOp) { return simple(op, Opcode::Copy); })
      .Case([&](tok::BarrierOp) { return success(); })
      .Case([&](tok::CallOp call) {
        auto callee = parts_.functions.find(call.getCallee());
        return callee == parts_.functions.end()
                   ? LogicalResult(op->emitOpError("calls an unknown function"))
                   : simple(op, Opcode::Call, callee->second);
      })
      .Case([&](tok::ExecuteOp execute) {
        return simple(op, Opcode::Block, blockNumber_(execute.getBlock()));
      })
      .Case([&](plan::OperatorOp fused) -> LogicalResult {
        FailureOr<runtime::KernelPlan> kernel = kernelOf_(fused);
        if (failed(kernel))
          return failure();
        parts_.image.kernels.push_back(std::move(*kernel));
        return simple(op, Opcode::Kernel, parts_.image.kernels.size() - 1);
      })
      .Case([&](tok::IfOp op) { return lowerIf(op); })
      .Case([&](tok::WhileOp op) { return lowerWhile(op); })
      .Case([&](tok::ForOp loop) {
        return lowerLoop(op, loop.getBodyRegion(), op->getOperands().take_front(3),
                         loop.getInits());
      })
      .Case([&](tok::ParForOp loop) { return lowerParallelLoop(loop); })
      .Case([&](tok::SliceOp slice) {
        tok::CastOp cast = readingOneCell(slice);
        if (!cast)
          return simple(op, Opcode::Native, parts_.native("slice"));
        isRead_.insert(cast);
        LogicalResult result = simple(op, Opcode::ReadCell, parts_.native("slice"));
        out_.slots.back() = slotOf(cast);
        return result;
      })
      .Case([&](tok::InsertOp insert) {
        bool isRecorded = op->hasAttr(updatesAttributeName);
        if (!isRecorded && isOneCell(insert) && !tok::isArray(insert.getValue().getType()))
          return simple(op, Opcode::WriteCell, parts_.native("insert"));
        LogicalResult result = simple(op, Opcode::Native, parts_.native("insert"));
        if (auto carried = op->getAttrOfType<IntegerAttr>(updatesAttributeName))
          out_.instructions.back().target = 1 + carried.getInt();
        return result;
      })
      .Default([&](Operation *op) -> LogicalResult {
        auto native = dyn_cast<tok::NativeOpInterface>(op);
        int32_t index = native ? parts_.native(native.getNativeName()) : -1;
        if (index < 0)
          return op->emitError("the runtime has no native for ")
                 << (native ? native.getNativeName() : op->getName().getStringRef());
        return simple(op, Opcode::Native, index);
      });
}

LogicalResult FunctionLowering::lowerIf(tok::IfOp op) {
  SmallVector<Slot> results = slotsOf(op.getResults());
  int32_t branch = here();
  emit(Opcode::BranchIfNot, {slotOf(op.getCondition())}, {});
  auto lowerBranch = [&](Region &region) {
    if (failed(lowerBlock(region.front())))
      return failure();
    Operation *yield = region.front().getTerminator();
    assign(yield, yield->getOperands(), results);
    return success();
  };
  if (failed(lowerBranch(op.getThenRegion())))
    return failure();
  int32_t jump = here();
  emit(Opcode::Jump, {}, {});
  out_.instructions[branch].target = here();
  if (failed(lowerBranch(op.getElseRegion())))
    return failure();
  out_.instructions[jump].target = here();
  return success();
}

LogicalResult FunctionLowering::lowerWhile(tok::WhileOp op) {
  // The carried values, the arguments of both regions and the results share slots.
  SmallVector<Slot> carried = slotsOf(op.getResults());
  carried_.insert(carried.begin(), carried.end());
  for (Region *region : {&op.getConditionRegion(), &op.getBodyRegion()})
    for (auto [argument, slot] : llvm::zip(region->getArguments(), carried))
      slots_[argument] = slot;
  assign(op, op.getInits(), carried);
  int32_t start = here();
  mlir::Block &conditionBlock = op.getConditionRegion().front();
  if (failed(lowerBlock(conditionBlock)))
    return failure();
  auto condition = cast<tok::ConditionOp>(conditionBlock.getTerminator());
  assign(condition, condition.getInputs(), carried, condition.getCondition());
  int32_t branch = here();
  emit(Opcode::BranchIfNot, {slotOf(condition.getCondition())}, {});
  mlir::Block &body = op.getBodyRegion().front();
  if (failed(lowerBlock(body)))
    return failure();
  assign(body.getTerminator(), body.getTerminator()->getOperands(), carried);
  emit(Opcode::Jump, {}, {}, ++parts_.loops).target = start;
  out_.instructions[branch].target = here();
  return success();
}

LogicalResult FunctionLowering::lowerLoop(Operation *op, Region &region, ValueRange bounds,
                                          ValueRange inits) {
  mlir::Block &body = region.front();
  SmallVector<Slot> carried = slotsOf(op->getResults());
  carried_.insert(carried.begin(), carried.end());
  for (auto [argument, slot] : llvm::zip(body.getArguments().drop_front(), carried))
    slots_[argument] = slot;
  // The body gets a copy of the counter, because it may consume its argument.
  Slot counter = nextSlot_++;
  emit(Opcode::Copy, {slotOf(bounds[0])}, {counter});
  assign(op, inits, carried);
  int32_t start = here();
  emit(Opcode::LoopTest, {counter, slotOf(bounds[1]), slotOf(bounds[2])}, {});
  emit(Opcode::Copy, {counter}, {slotOf(body.getArgument(0))});
  if (failed(lowerBlock(body)))
    return failure();
  assign(body.getTerminator(), body.getTerminator()->getOperands(), carried);
  emit(Opcode::LoopStep, {counter, slotOf(bounds[2])}, {counter}, ++parts_.loops).target = start;
  out_.instructions[start].target = here();
  return success();
}

static runtime::ParallelLoop describeLoop(tok::ParForOp op) {
  runtime::ParallelLoop loop;
  loop.isIndependent = op->hasAttr(tok::independentAttributeName);
  if (auto workers = op->getAttrOfType<IntegerAttr>(tok::workersAttributeName))
    loop.workers = workers.getInt();
  if (auto merges = op->getAttrOfType<ArrayAttr>(mergesAttributeName))
    for (StringAttr merge : merges.getAsRange<StringAttr>())
      loop.merges.push_back(llvm::StringSwitch<runtime::Merge>(merge)
                                .Case("cells", runtime::Merge::Cells)
                                .Case("sum", runtime::Merge::Sum)
                                .Default(runtime::Merge::Last));
  if (auto outer = op->getAttrOfType<DenseI64ArrayAttr>(outerValuesAttributeName))
    loop.outerValues.assign(outer.asArrayRef().begin(), outer.asArrayRef().end());
  return loop;
}

LogicalResult FunctionLowering::lowerParallelLoop(tok::ParForOp op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getBodyRegion(), captured);
  ImageFunction body;
  if (failed(FunctionLowering(parts_, body, blockNumber_, kernelOf_)
                 .lowerIteration(op, captured.getArrayRef(), out_.name + ".iteration")))
    return failure();
  Image &image = parts_.image;
  image.loops.push_back(describeLoop(op));
  image.loops.back().body = image.functions.size();
  image.functions.push_back(std::move(body));

  SmallVector<Value> reads(op->getOperands());
  llvm::append_range(reads, captured);
  emit(Opcode::ParallelLoop, slotsOf(reads), slotsOf(op->getResults()), image.loops.size() - 1)
      .lastUse = lastUses(op, reads);
  return success();
}

FailureOr<Image> pipeline::lowerProgram(ModuleOp module, BlockNumber blockNumber) {
  Image image;
  ImageParts parts(image);
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(blockAttributeName))
      continue;
    functions.insert(function.getName() == "main" ? functions.begin() : functions.end(), function);
  }
  for (auto [index, function] : llvm::enumerate(functions))
    parts.functions[function.getName()] = index;
  image.functions.resize(functions.size());
  auto noKernels = [](plan::OperatorOp op) -> FailureOr<runtime::KernelPlan> {
    return LogicalResult(op.emitOpError("outside of a block"));
  };
  for (auto [index, function] : llvm::enumerate(functions)) {
    ImageFunction lowered; // no reference: lowering a parallel loop appends to image.functions
    if (failed(FunctionLowering(parts, lowered, blockNumber, noKernels).lower(function)))
      return failure();
    image.functions[index] = std::move(lowered);
  }
  return image;
}

FailureOr<Image> pipeline::lowerFragment(func::FuncOp block, BlockNumber blockNumber,
                                         KernelOf kernelOf) {
  Image image;
  ImageParts parts(image);
  image.functions.resize(1);
  if (failed(FunctionLowering(parts, image.functions[0], blockNumber, kernelOf).lower(block)))
    return failure();
  return image;
}
