#include "runtime/image/Executor.h"

#include "runtime/values/Frame.h"

#include "base/Interrupt.h"
#include "base/MemoryErrors.h"
#include "runtime/image/DeepStack.h"
#include "runtime/image/KernelLaunch.h"
#include "runtime/image/Profile.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/OperandConversion.h"
#include "runtime/parallel/ParallelLoopRun.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/values/ScalarOperations.h"

#include <fmt/format.h>
#include <memory>
#include <new>

namespace tokamak::runtime {
namespace {

// A contiguous list of values, as natives and kernels take them; up to eight live on the stack.
class ValueList {
public:
  explicit ValueList(size_t count) : count_(count) {
    if (count > inlineCount)
      heap_ = std::make_unique<Value[]>(count);
    else
      std::uninitialized_value_construct_n(inlineValues(), count);
  }
  ~ValueList() {
    if (!heap_)
      std::destroy_n(inlineValues(), count_);
  }
  ValueList(const ValueList &) = delete;
  ValueList &operator=(const ValueList &) = delete;
  std::span<Value> values() { return {heap_ ? heap_.get() : inlineValues(), count_}; }

private:
  static constexpr size_t inlineCount = 8;
  Value *inlineValues() { return reinterpret_cast<Value *>(inline_); }

  alignas(Value) std::byte inline_[inlineCount * sizeof(Value)]; // constructed as far as needed
  std::unique_ptr<Value[]> heap_;
  size_t count_;
};

bool isLastUse(const Instruction &instruction, int32_t operand) {
  return operand < 64 && (instruction.lastUse >> operand & 1) != 0;
}

// Collects operands, moving values at their last use and copying the others.
void gather(const Instruction &instruction, const Slot *lists, Value *slots,
            std::span<Value> into) {
  const Slot *operands = lists + instruction.operandBegin;
  for (int32_t i = 0; i < instruction.operandCount; ++i) {
    Value &value = slots[operands[i]];
    into[i] = isLastUse(instruction, i) ? std::move(value) : value;
  }
}

void scatter(const Instruction &instruction, const Slot *lists, Value *slots,
             std::span<Value> from) {
  const Slot *results = lists + instruction.resultBegin;
  for (int32_t i = 0; i < instruction.resultCount; ++i)
    slots[results[i]] = std::move(from[i]);
}

// Where the results of an instruction are made: a single one in its slot, several in a list. An
// instruction may read the slot as an operand; gather() comes before.
class ResultPlaces {
public:
  ResultPlaces(const Instruction &instruction, const Slot *lists, Value *slots)
      : instruction_(instruction), lists_(lists), slots_(slots),
        several_(isOne() ? 0 : instruction.resultCount) {}
  std::span<Value> values() {
    return isOne() ? std::span(slots_ + lists_[instruction_.resultBegin], 1) : several_.values();
  }
  // Call when all results are there.
  void assign() {
    if (!isOne())
      scatter(instruction_, lists_, slots_, several_.values());
  }

private:
  bool isOne() const { return instruction_.resultCount == 1; }

  const Instruction &instruction_;
  const Slot *lists_;
  Value *slots_;
  ValueList several_;
};

const SourcePlace &placeOf(const Image &image, const Instruction &instruction) {
  static const SourcePlace unknown;
  return static_cast<size_t>(instruction.place) < image.places.size()
             ? image.places[instruction.place]
             : unknown;
}

bool callsByName(const Image &image, const Instruction &instruction) {
  if (instruction.opcode != Opcode::Native)
    return false;
  NativeKind kind = image.natives[instruction.index]->row.kind;
  return kind == NativeKind::Eval || kind == NativeKind::EvalList;
}

// Calls that were not inlined may recurse.
bool hasCalls(const Image &image) {
  for (const ImageFunction &function : image.functions)
    for (const Instruction &instruction : function.instructions)
      if (instruction.opcode == Opcode::Call || callsByName(image, instruction))
        return true;
  return false;
}

void checkAllDefined(std::span<const Value> values) {
  for (const Value &value : values)
    checkDefined(value);
}

// The cells that tok.insert replaces, from its operands 2 to 5: row and column
// ranges, 1-based and inclusive.
CellRegion insertedRegion(std::span<const Value> operands) {
  return {operands[2].asInteger() - 1, operands[3].asInteger(), operands[4].asInteger() - 1,
          operands[5].asInteger()};
}

// A fast path for double operands; all other types go through the general function.
void executeBinary(BinaryOperator op, const Value &lhs, const Value &rhs, Value &result) {
  const double *a = lhs.ifDouble(), *b = rhs.ifDouble();
  if (a && b) {
    double x = *a, y = *b;
    switch (op) {
    case BinaryOperator::Add:
      return result.assign(x + y);
    case BinaryOperator::Sub:
      return result.assign(x - y);
    case BinaryOperator::Mul:
      return result.assign(x * y);
    case BinaryOperator::Div:
      return result.assign(x / y);
    case BinaryOperator::Lt:
      return result.assign(x < y);
    case BinaryOperator::Le:
      return result.assign(x <= y);
    case BinaryOperator::Gt:
      return result.assign(x > y);
    case BinaryOperator::Ge:
      return result.assign(x >= y);
    default:
      break;
    }
  }
  result = binaryScalar(op, lhs, rhs);
}

int64_t rowsOf(const Value &value) {
  checkDefined(value);
  if (value.isArray())
    return value.array()->rows();
  if (value.isList())
    return static_cast<int64_t>(value.list()->elements.size());
  if (value.isFrame())
    return value.frame()->rows();
  throw Error(fmt::format("nrow: expected a matrix, got {}", value.describe()));
}

int64_t columnsOf(const Value &value) {
  checkDefined(value);
  if (value.isArray())
    return value.array()->columns();
  if (value.isList())
    return 1;
  if (value.isFrame())
    return value.frame()->columns();
  throw Error(fmt::format("ncol: expected a matrix, got {}", value.describe()));
}

int64_t sizeOf(const Value &value, int dimension) {
  checkDefined(value);
  if (!value.isArray() || dimension >= value.array()->shape().rank())
    internalError(fmt::format("no dimension {} of {}", dimension, value.describe()));
  return value.array()->shape()[dimension];
}

int64_t lengthOf(const Value &value) {
  checkDefined(value);
  if (value.isArray())
    return value.array()->cells();
  if (value.isFrame())
    return value.frame()->rows() * value.frame()->columns();
  return value.isList() ? static_cast<int64_t>(value.list()->elements.size()) : 1;
}

bool truthOf(const Value &value) {
  if (value.isString())
    throw Error(fmt::format("expected a boolean, got the string \"{}\"", value.text()));
  return value.asBoolean();
}

bool isWithinLoop(const Value &counter, const Value &to, const Value &step) {
  checkDefined(counter);
  checkDefined(to);
  int64_t increment = step.asInteger();
  if (increment == 0)
    throw Error("for: the increment, truncated to an integer, is zero");
  return increment > 0 ? counter.asInteger() <= to.asInteger()
                       : counter.asInteger() >= to.asInteger();
}

} // namespace

// The slots of one call; cleared when the call ends.
class Executor::Frame {
public:
  Frame(std::deque<std::vector<Value>> &frames, int depth, int32_t slotCount) {
    if (static_cast<size_t>(depth) >= frames.size())
      frames.resize(depth + 1);
    frame_ = &frames[depth];
    resize(slotCount);
  }
  ~Frame() {
    for (int32_t i = 0; i < count_; ++i)
      slots_[i] = Value();
  }
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;
  Value *slots() { return slots_; }
  std::span<Value> arguments(int32_t count) { return {slots_, static_cast<size_t>(count)}; }
  // Keeps the arguments.
  void resize(int32_t slotCount) {
    if (frame_->size() < static_cast<size_t>(slotCount))
      frame_->resize(slotCount);
    slots_ = frame_->data();
    count_ = slotCount;
  }

private:
  std::vector<Value> *frame_;
  Value *slots_;
  int32_t count_;
};

Executor::Executor(const Image &image, BlockProvider *provider, ExecutionContext &context)
    : image_(image), provider_(provider), context_(context),
      hot_(image, provider, [this] { return !isInterruptRequested() && !hasEarlierTaskFailed(); }) {
}

Executor::Executor(const Executor &parent, ExecutionContext &context, int64_t tasks)
    : Executor(parent.image_, parent.provider_, context) {
  callDepth_ = parent.callDepth_;
  parallelTasks_ = tasks;
}

bool Executor::hasEarlierTaskFailed() const {
  for (const TaskStop *stop = stop_; stop; stop = stop->outer)
    if (stop->firstFailed->load(std::memory_order_relaxed) < stop->task)
      return true;
  return false;
}

void Executor::checkStop() const {
  checkInterrupt();
  if (hasEarlierTaskFailed())
    throw Error("an earlier iteration failed", ErrorKind::Interrupted);
}

void Executor::call(size_t function, std::span<Value> arguments, std::span<Value> results) {
  if (function >= image_.functions.size())
    internalError(fmt::format("the image has no function {}", function));
  auto start = [&] { runFunction(image_, image_.functions[function], arguments, results, 0); };
  if (hasCalls(image_))
    runOnDeepStack(start);
  else
    start();
}

void Executor::runFunction(const Image &image, const ImageFunction &function,
                           std::span<Value> arguments, std::span<Value> results, int depth) {
  Frame frame(frames_, depth, function.slotCount);
  for (size_t i = 0; i < arguments.size(); ++i)
    frame.slots()[i] = std::move(arguments[i]);
  runFrame(image, function, frame, results, depth);
}

void Executor::runFrame(const Image &image, const ImageFunction &function, Frame &frame,
                        std::span<Value> results, int depth) {
  const Instruction *current = function.instructions.data();
  try {
    withMemoryErrors([&] { interpret(image, function, frame.slots(), results, current, depth); });
  } catch (Error &error) {
    bool wasPlaced = error.place().isKnown();
    if (static_cast<size_t>(current->place) < image.places.size()) {
      const SourcePlace &place = image.places[current->place];
      // Also a native that has called a function by its name.
      bool isCaller =
          wasPlaced && (current->opcode == Opcode::Call || current->opcode == Opcode::Native);
      error.at(place);
      if (isCaller)
        error.calledFrom(place);
      if ((isCaller || !wasPlaced) && static_cast<size_t>(current->place) < image.callers.size())
        for (const SourcePlace &caller : image.callers[current->place])
          error.calledFrom(caller);
    }
    throw;
  }
}

int32_t Executor::jumpBack(const Image &image, const ImageFunction &function,
                           const Instruction &jump, Value *slots) {
  if (!hot_.mayCompile(image) || !hot_.countIteration(jump))
    return jump.target;
  checkStop();
  return hot_.goOn(function, jump, slots, deepestCall() - callDepth_);
}

void Executor::interpret(const Image &image, const ImageFunction &function, Value *slots,
                         std::span<Value> results, const Instruction *&current, int depth) {
  const Instruction *code = function.instructions.data();
  const Slot *lists = function.slots.data();
  const Instruction *next = code;
  for (;;) {
    const Instruction &instruction = *next++;
    current = &instruction;
    const Slot *operands = lists + instruction.operandBegin;
    auto operand = [&](int i) -> Value & { return slots[operands[i]]; };
    auto result = [&]() -> Value & { return slots[lists[instruction.resultBegin]]; };
    switch (instruction.opcode) {
    case Opcode::Constant:
      result() = image.constants[instruction.index];
      break;
    case Opcode::Move:
      if (operands[0] != lists[instruction.resultBegin])
        result() = std::exchange(operand(0), Value());
      break;
    case Opcode::Copy:
      result() = operand(0);
      break;
    case Opcode::Free:
      for (int32_t i = 0; i < instruction.operandCount; ++i)
        operand(i) = Value();
      break;
    case Opcode::Unary:
      result() = unaryScalar(static_cast<UnaryOperator>(instruction.index), operand(0));
      break;
    case Opcode::Binary:
      executeBinary(static_cast<BinaryOperator>(instruction.index), operand(0), operand(1),
                    result());
      break;
    case Opcode::Concat:
      result() = concatenate(operand(0), operand(1));
      break;
    case Opcode::IfElse: {
      Value &chosen = truthOf(operand(0)) ? operand(1) : operand(2);
      checkDefined(chosen);
      result() = Value(chosen);
      break;
    }
    case Opcode::Cast:
      result() = castValue(operand(0), static_cast<CastTarget>(instruction.index));
      convertResults({&result(), 1}, instruction.elementType);
      break;
    case Opcode::Rows:
      result().assign(rowsOf(operand(0)));
      break;
    case Opcode::Columns:
      result().assign(columnsOf(operand(0)));
      break;
    case Opcode::Length:
      result().assign(lengthOf(operand(0)));
      break;
    case Opcode::Size:
      result().assign(sizeOf(operand(0), instruction.index));
      break;
    case Opcode::Native:
      runNative(image, instruction, lists, slots);
      break;
    case Opcode::ReadCell:
      readCell(image, instruction, lists, slots);
      break;
    case Opcode::WriteCell:
      writeCell(image, instruction, lists, slots);
      break;
    case Opcode::Kernel:
      runKernel(image, instruction, lists, slots);
      break;
    case Opcode::Block:
      runBlock(function, instruction, slots, depth);
      break;
    case Opcode::Call:
      runCall(image, instruction, lists, slots, depth);
      break;
    case Opcode::ParallelLoop:
      runParallelLoop(image, instruction, lists, slots, depth);
      break;
    case Opcode::Jump:
      checkStop();
      next = code + jumpBack(image, function, instruction, slots);
      break;
    case Opcode::BranchIfNot:
      if (!truthOf(operand(0)))
        next = code + instruction.target;
      break;
    case Opcode::LoopTest:
      if (!isWithinLoop(operand(0), operand(1), operand(2)))
        next = code + instruction.target;
      break;
    case Opcode::LoopStep: {
      int64_t counter = 0;
      if (__builtin_add_overflow(operand(0).asInteger(), operand(1).asInteger(), &counter))
        break;
      result().assign(counter);
      next = code + jumpBack(image, function, instruction, slots);
      break;
    }
    case Opcode::Return:
      // The frame ends here: this is the last use of every result, unless it is returned twice.
      for (int32_t i = 0; i < instruction.operandCount && i < static_cast<int32_t>(results.size());
           ++i) {
        bool usedAgain = false;
        for (int32_t j = i + 1; j < instruction.operandCount; ++j)
          usedAgain |= operands[j] == operands[i];
        results[i] = usedAgain ? operand(i) : std::move(operand(i));
      }
      return;
    }
  }
}

int Executor::threads() const { return context_.scheduler ? context_.scheduler->threads() : 1; }

void Executor::runNative(const Image &image, const Instruction &instruction, const Slot *lists,
                         Value *slots) {
  checkStop();
  const Native &native = *image.natives[instruction.index];
  ValueList operands(instruction.operandCount), results(instruction.resultCount);
  gather(instruction, lists, slots, operands.values());
  if (native.row.kind != NativeKind::IsAssigned)
    checkAllDefined(operands.values());
  const Prediction *predicted =
      instruction.prediction > 0 ? &image.predictions[instruction.prediction - 1] : nullptr;
  ProfiledStep step(context_.profile, StepKind::Native, native.row.name,
                    placeOf(image, instruction), predicted, threads());
  step.reads(operands.values());
  convertOperands(native.row, operands.values(), instruction.elementType);
  context_.touchedBytes.reset();
  context_.resultType = instruction.elementType;
  native.function(context_, operands.values(), results.values());
  convertResults(results.values(), instruction.elementType);
  if (instruction.target > 0 && updates_) // tok.insert into a carried value
    (*updates_)[instruction.target - 1].note(insertedRegion(operands.values()),
                                             *results.values().front().array());
  step.wrote(results.values());
  if (context_.touchedBytes)
    step.touchedOnly(*context_.touchedBytes);
  countMaterialized(results.values());
  scatter(instruction, lists, slots, results.values());
}

// The cell of a dense matrix of doubles; null where the general natives are needed, also to say what
// is wrong.
static const double *cellOf(const Value &matrix, const Value &row, const Value &column) {
  if (!matrix.isArray() || !row.isInteger() || !column.isInteger())
    return nullptr;
  const Array &array = *matrix.array();
  if (!hasPlainCells(array))
    return nullptr;
  int64_t i = row.asInteger() - 1, j = column.asInteger() - 1;
  bool isInside = i >= 0 && i < array.rows() && j >= 0 && j < array.columns();
  return isInside ? array.data() + i * array.columns() + j : nullptr;
}

// A slice of one cell, without making an array of it.
void Executor::readCell(const Image &image, const Instruction &instruction, const Slot *lists,
                        Value *slots) {
  const Slot *operands = lists + instruction.operandBegin;
  Value &matrix = slots[operands[0]], &result = slots[lists[instruction.resultBegin]];
  const double *cell = cellOf(matrix, slots[operands[1]], slots[operands[3]]);
  if (!cell) {
    runNative(image, instruction, lists, slots);
    result = castValue(result, CastTarget::Double);
    return;
  }
  double number = *cell;
  if (isLastUse(instruction, 0))
    matrix = Value();
  result.assign(number);
}

// An insertion of one cell; in place, without a list of operands, where that is possible.
void Executor::writeCell(const Image &image, const Instruction &instruction, const Slot *lists,
                         Value *slots) {
  const Slot *operands = lists + instruction.operandBegin;
  Value &matrix = slots[operands[0]], &result = slots[lists[instruction.resultBegin]];
  const Value &number = slots[operands[1]];
  const double *cell = cellOf(matrix, slots[operands[2]], slots[operands[4]]);
  if (!cell || !isLastUse(instruction, 0) || !isSoleOwner(matrix) ||
      !(number.isDouble() || number.isInteger()))
    return runNative(image, instruction, lists, slots);
  auto &array = const_cast<Array &>(*matrix.array());
  int64_t place = cell - array.data();
  array.mutableData()[place] = number.asDouble();
  if (&result != &matrix)
    result = std::exchange(matrix, Value());
  ++materializedArrays_;
}

void Executor::runKernel(const Image &image, const Instruction &instruction, const Slot *lists,
                         Value *slots) {
  ValueList operands(instruction.operandCount);
  checkStop();
  gather(instruction, lists, slots, operands.values());
  checkAllDefined(operands.values());
  ResultPlaces results(instruction, lists, slots);
  const KernelPlan &plan = image.kernels[instruction.index];
  ProfiledStep step(context_.profile, StepKind::Kernel, plan.name, placeOf(image, instruction),
                    &plan.prediction, threads());
  step.reads(operands.values());
  launchKernel(plan, context_.scheduler, operands.values(), results.values());
  step.wrote(results.values());
  countMaterialized(results.values());
  results.assign();
}

void Executor::runBlock(const ImageFunction &caller, const Instruction &instruction, Value *slots,
                        int depth) {
  const Slot *lists = caller.slots.data();
  if (!provider_)
    internalError("the image has a block but nothing plans it");
  Frame frame(frames_, depth + 1, instruction.operandCount);
  std::span<Value> arguments = frame.arguments(instruction.operandCount);
  gather(instruction, lists, slots, arguments);
  checkAllDefined(arguments);
  std::shared_ptr<const Image> plan =
      provider_->planFor(instruction.index, arguments, {caller, instruction, slots});
  const ImageFunction &function = plan->functions.front();
  frame.resize(function.slotCount);
  ResultPlaces results(instruction, lists, slots);
  runFrame(*plan, function, frame, results.values(), depth + 1);
  results.assign();
}

void Executor::runCall(const Image &image, const Instruction &instruction, const Slot *lists,
                       Value *slots, int depth) {
  const ImageFunction &function = image.functions[instruction.index];
  checkStop();
  if (callDepth_ >= deepestCall())
    failTooDeep(function.name);
  if (hot_.mayCompile(image) &&
      hot_.call(instruction, lists, slots, deepestCall() - callDepth_ - 1))
    return;
  Frame frame(frames_, depth + 1, function.slotCount);
  gather(instruction, lists, slots, frame.arguments(instruction.operandCount));
  ResultPlaces results(instruction, lists, slots);
  ++callDepth_;
  runFrame(image, function, frame, results.values(), depth + 1);
  --callDepth_;
  results.assign();
}

void Executor::runParallelLoop(const Image &image, const Instruction &instruction,
                               const Slot *lists, Value *slots, int depth) {
  ValueList operands(instruction.operandCount), results(instruction.resultCount);
  gather(instruction, lists, slots, operands.values());
  ParallelLoopRun run(*this, image, image.loops[instruction.index], operands.values(), depth);
  run.execute(results.values());
  scatter(instruction, lists, slots, results.values());
}

void Executor::countMaterialized(std::span<const Value> results) {
  for (const Value &result : results)
    if (result.isArray() && result.array()->cells() > 1)
      ++materializedArrays_;
}

} // namespace tokamak::runtime
