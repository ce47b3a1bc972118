#include "exec/LoopCompiler.h"

#include "base/CellOperators.h"
#include "base/UncheckedByThreadSanitizer.h"
#include "codegen/LlvmLowering.h"
#include "codegen/MachineCode.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <chrono>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::CastTarget;
using runtime::Image;
using runtime::ImageFunction;
using runtime::Instruction;
using runtime::Opcode;
using runtime::ScalarLoop;
using runtime::Slot;
using runtime::SlotType;

static double callUnary(int64_t op, double x) {
  return evaluate(static_cast<UnaryOperator>(op), x);
}
static double callBinary(int64_t op, double a, double b) {
  return evaluate(static_cast<BinaryOperator>(op), a, b);
}

namespace {

// Emits one block for each instruction. Slots are variables in memory, which LLVM turns into
// registers.
class Emission {
public:
  Emission(const Image &image, const ImageFunction &function, const ScalarLoop &loop,
           llvm::Module &module)
      : image_(image), function_(function), loop_(loop), builder_(module.getContext()) {
    llvm::Type *pointer = builder_.getPtrTy(), *word = builder_.getInt64Ty();
    auto *type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, word}, false);
    code_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "loop", module);
    code_->addFnAttr(llvm::Attribute::NoUnwind);
    words_ = code_->getArg(0);
  }

  void run() {
    llvm::BasicBlock *entry = newBlock();
    for (int32_t i = loop_.head; i <= loop_.end; ++i)
      blocks_.push_back(newBlock());
    builder_.SetInsertPoint(entry);
    remaining_ = builder_.CreateAlloca(builder_.getInt64Ty());
    builder_.CreateStore(code_->getArg(1), remaining_);
    leftAt_ = builder_.CreateAlloca(builder_.getInt32Ty());
    leaving_ = newBlock();
    variables_.resize(loop_.types.size());
    isAssigned_.resize(loop_.types.size());
    for (Slot slot = 0; slot < static_cast<Slot>(loop_.types.size()); ++slot)
      if (llvm::Type *type = typeOf(slot)) {
        variables_[slot] = builder_.CreateAlloca(type);
        llvm::Value *loaded = builder_.CreateLoad(builder_.getInt64Ty(), wordOf(slot));
        builder_.CreateStore(type->isDoubleTy() ? builder_.CreateBitCast(loaded, type)
                                                : builder_.CreateTrunc(loaded, type),
                             variables_[slot]);
      }
    builder_.CreateBr(blockOf(loop_.head));
    for (current_ = loop_.head; current_ < loop_.end; ++current_) {
      builder_.SetInsertPoint(blockOf(current_));
      emit(function_.instructions[current_]);
      if (!builder_.GetInsertBlock()->getTerminator())
        builder_.CreateBr(blockOf(current_ + 1));
    }
    builder_.SetInsertPoint(blockOf(loop_.end));
    leave(loop_.end);
    emitLeaving();
  }

private:
  llvm::BasicBlock *newBlock() {
    return llvm::BasicBlock::Create(builder_.getContext(), "", code_);
  }
  llvm::BasicBlock *blockOf(int32_t instruction) { return blocks_[instruction - loop_.head]; }

  llvm::Type *typeOf(Slot slot) {
    switch (loop_.types[slot]) {
    case SlotType::Boolean:
      return builder_.getInt1Ty();
    case SlotType::Integer:
      return builder_.getInt64Ty();
    case SlotType::Double:
      return builder_.getDoubleTy();
    default:
      return nullptr;
    }
  }

  llvm::Value *wordOf(Slot slot, int32_t number = 0) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), words_,
                                               ScalarLoop::wordsPerSlot * slot + number);
  }
  // Of a matrix: 0 the address of its cells, 1 its rows, 2 its columns.
  llvm::Value *ofMatrix(Slot slot, int32_t number) {
    return builder_.CreateLoad(builder_.getInt64Ty(), wordOf(loop_.matrixOf[slot], number));
  }

  Slot operand(const Instruction &instruction, int32_t i) const {
    return function_.slots[instruction.operandBegin + i];
  }
  Slot result(const Instruction &instruction) const {
    return function_.slots[instruction.resultBegin];
  }
  SlotType type(const Instruction &instruction, int32_t i) const {
    return loop_.types[operand(instruction, i)];
  }
  llvm::Value *value(const Instruction &instruction, int32_t i) {
    Slot slot = operand(instruction, i);
    return builder_.CreateLoad(typeOf(slot), variables_[slot]);
  }
  void assign(const Instruction &instruction, llvm::Value *value) {
    builder_.CreateStore(value, variables_[result(instruction)]);
    isAssigned_[result(instruction)] = true;
  }

  llvm::Value *asDouble(llvm::Value *value) {
    if (value->getType()->isDoubleTy())
      return value;
    return value->getType()->isIntegerTy(1) ? builder_.CreateUIToFP(value, builder_.getDoubleTy())
                                            : builder_.CreateSIToFP(value, builder_.getDoubleTy());
  }
  llvm::Value *number(double value) { return llvm::ConstantFP::get(builder_.getDoubleTy(), value); }
  llvm::Value *asBoolean(llvm::Value *value) {
    if (value->getType()->isIntegerTy(1))
      return value;
    return value->getType()->isDoubleTy() ? builder_.CreateFCmpUNE(value, number(0))
                                          : builder_.CreateICmpNE(value, builder_.getInt64(0));
  }

  // Ends the block: interpretation goes on at an instruction.
  void leave(int32_t instruction) {
    builder_.CreateStore(builder_.getInt32(instruction), leftAt_);
    builder_.CreateBr(leaving_);
  }

  // All numbers that the loop assigns go back.
  void emitLeaving() {
    builder_.SetInsertPoint(leaving_);
    for (Slot slot = 0; slot < static_cast<Slot>(loop_.types.size()); ++slot) {
      if (!variables_[slot] || !isAssigned_[slot])
        continue;
      llvm::Value *value = builder_.CreateLoad(typeOf(slot), variables_[slot]);
      llvm::Value *word = value->getType()->isDoubleTy()
                              ? builder_.CreateBitCast(value, builder_.getInt64Ty())
                              : builder_.CreateZExt(value, builder_.getInt64Ty());
      builder_.CreateStore(word, wordOf(slot));
    }
    builder_.CreateRet(builder_.CreateLoad(builder_.getInt32Ty(), leftAt_));
  }

  // What can't go on here is left to the interpreter, which says what is wrong.
  void leaveIf(llvm::Value *condition) {
    llvm::BasicBlock *leaving = newBlock(), *staying = newBlock();
    builder_.CreateCondBr(condition, leaving, staying);
    builder_.SetInsertPoint(leaving);
    leave(current_);
    builder_.SetInsertPoint(staying);
  }

  // A jump; one back to the head of a loop counts as an iteration.
  void jump(int32_t target) {
    if (target > current_) {
      builder_.CreateBr(blockOf(target));
      return;
    }
    llvm::Value *left = builder_.CreateSub(builder_.CreateLoad(builder_.getInt64Ty(), remaining_),
                                           builder_.getInt64(1));
    builder_.CreateStore(left, remaining_);
    llvm::BasicBlock *pausing = newBlock();
    builder_.CreateCondBr(builder_.CreateICmpSGT(left, builder_.getInt64(0)), blockOf(target),
                          pausing);
    builder_.SetInsertPoint(pausing);
    leave(target);
  }

  llvm::Value *call(void *function, llvm::Type *result, llvm::ArrayRef<llvm::Value *> arguments) {
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
      types.push_back(argument->getType());
    llvm::Value *address = builder_.CreateIntToPtr(
        builder_.getInt64(reinterpret_cast<uint64_t>(function)), builder_.getPtrTy());
    llvm::CallInst *call =
        builder_.CreateCall(llvm::FunctionType::get(result, types, false), address, arguments);
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  }

  llvm::Value *unary(UnaryOperator op, llvm::Value *operand) {
    if (operand->getType()->isIntegerTy(64) && op == UnaryOperator::Neg) {
      leaveIf(builder_.CreateICmpEQ(operand, builder_.getInt64(INT64_MIN)));
      return builder_.CreateNeg(operand);
    }
    llvm::Value *x = asDouble(operand);
    switch (op) {
    case UnaryOperator::Neg:
      return builder_.CreateFNeg(x);
    case UnaryOperator::Not:
      return builder_.CreateFCmpOEQ(x, number(0));
    case UnaryOperator::Abs:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case UnaryOperator::Sqrt:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case UnaryOperator::Floor:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case UnaryOperator::Ceil:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    default:
      break;
    }
    llvm::Value *result = call(reinterpret_cast<void *>(&callUnary), builder_.getDoubleTy(),
                               {builder_.getInt64(static_cast<int64_t>(op)), x});
    return resultOf(op) == CellResult::Boolean ? asBoolean(result) : result;
  }

  llvm::Value *withOverflow(llvm::Intrinsic::ID intrinsic, llvm::Value *a, llvm::Value *b) {
    llvm::Value *pair = builder_.CreateBinaryIntrinsic(intrinsic, a, b);
    leaveIf(builder_.CreateExtractValue(pair, 1));
    return builder_.CreateExtractValue(pair, 0);
  }

  // As evaluateInteger computes it. Null for comparisons and for what gives doubles.
  llvm::Value *ofIntegers(BinaryOperator op, llvm::Value *a, llvm::Value *b) {
    llvm::Value *zero = builder_.getInt64(0), *minusOne = builder_.getInt64(-1);
    auto divisor = [&](llvm::Value *isSpecial) {
      return builder_.CreateSelect(isSpecial, builder_.getInt64(1), b);
    };
    switch (op) {
    case BinaryOperator::Add:
      return withOverflow(llvm::Intrinsic::sadd_with_overflow, a, b);
    case BinaryOperator::Sub:
      return withOverflow(llvm::Intrinsic::ssub_with_overflow, a, b);
    case BinaryOperator::Mul:
      return withOverflow(llvm::Intrinsic::smul_with_overflow, a, b);
    case BinaryOperator::Mod: {
      llvm::Value *isSpecial =
          builder_.CreateOr(builder_.CreateICmpEQ(b, zero), builder_.CreateICmpEQ(b, minusOne));
      return builder_.CreateSelect(isSpecial, zero, builder_.CreateSRem(a, divisor(isSpecial)));
    }
    case BinaryOperator::IntDiv:
      leaveIf(builder_.CreateICmpEQ(b, zero));
      leaveIf(builder_.CreateAnd(builder_.CreateICmpEQ(b, minusOne),
                                 builder_.CreateICmpEQ(a, builder_.getInt64(INT64_MIN))));
      return builder_.CreateSDiv(a, b);
    case BinaryOperator::Min:
      return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
    case BinaryOperator::Max:
      return builder_.CreateSelect(builder_.CreateICmpSGT(a, b), a, b);
    case BinaryOperator::BitwAnd:
      return builder_.CreateAnd(a, b);
    case BinaryOperator::BitwOr:
      return builder_.CreateOr(a, b);
    case BinaryOperator::BitwXor:
      return builder_.CreateXor(a, b);
    case BinaryOperator::BitwShiftL:
      return builder_.CreateShl(a, builder_.CreateAnd(b, builder_.getInt64(63)));
    case BinaryOperator::BitwShiftR:
      return builder_.CreateAShr(a, builder_.CreateAnd(b, builder_.getInt64(63)));
    case BinaryOperator::Eq:
      return builder_.CreateICmpEQ(a, b);
    case BinaryOperator::Ne:
      return builder_.CreateICmpNE(a, b);
    case BinaryOperator::Lt:
      return builder_.CreateICmpSLT(a, b);
    case BinaryOperator::Le:
      return builder_.CreateICmpSLE(a, b);
    case BinaryOperator::Gt:
      return builder_.CreateICmpSGT(a, b);
    case BinaryOperator::Ge:
      return builder_.CreateICmpSGE(a, b);
    default:
      return nullptr;
    }
  }

  llvm::Value *binary(BinaryOperator op, llvm::Value *lhs, llvm::Value *rhs) {
    if (lhs->getType()->isIntegerTy(64) && rhs->getType()->isIntegerTy(64))
      if (llvm::Value *result = ofIntegers(op, lhs, rhs))
        return result;
    llvm::Value *a = asDouble(lhs), *b = asDouble(rhs);
    switch (op) {
    case BinaryOperator::Add:
      return builder_.CreateFAdd(a, b);
    case BinaryOperator::Sub:
      return builder_.CreateFSub(a, b);
    case BinaryOperator::Mul:
      return builder_.CreateFMul(a, b);
    case BinaryOperator::Div:
      return builder_.CreateFDiv(a, b);
    case BinaryOperator::Eq:
      return builder_.CreateFCmpOEQ(a, b);
    case BinaryOperator::Ne:
      return builder_.CreateFCmpUNE(a, b);
    case BinaryOperator::Lt:
      return builder_.CreateFCmpOLT(a, b);
    case BinaryOperator::Le:
      return builder_.CreateFCmpOLE(a, b);
    case BinaryOperator::Gt:
      return builder_.CreateFCmpOGT(a, b);
    case BinaryOperator::Ge:
      return builder_.CreateFCmpOGE(a, b);
    case BinaryOperator::And:
      return builder_.CreateAnd(asBoolean(a), asBoolean(b));
    case BinaryOperator::Or:
      return builder_.CreateOr(asBoolean(a), asBoolean(b));
    case BinaryOperator::Xor:
      return builder_.CreateXor(asBoolean(a), asBoolean(b));
    default:
      break;
    }
    llvm::Value *result = call(reinterpret_cast<void *>(&callBinary), builder_.getDoubleTy(),
                               {builder_.getInt64(static_cast<int64_t>(op)), a, b});
    return resultOf(op) == CellResult::Boolean ? asBoolean(result) : result;
  }

  llvm::Value *cast(SlotType target, llvm::Value *value) {
    switch (target) {
    case SlotType::Boolean:
      return asBoolean(value);
    case SlotType::Integer:
      if (value->getType()->isIntegerTy())
        return builder_.CreateZExt(value, builder_.getInt64Ty());
      return call(reinterpret_cast<void *>(&truncateToInteger), builder_.getInt64Ty(), {value});
    default:
      return asDouble(value);
    }
  }

  llvm::Value *constant(const runtime::Value &value) {
    if (value.isBoolean())
      return builder_.getInt1(value.asBoolean());
    if (value.isInteger())
      return builder_.getInt64(value.asInteger());
    return number(value.asDouble());
  }

  // The address of a cell; leaves the loop if it is outside of the matrix.
  llvm::Value *cell(const Instruction &instruction, int32_t rowOperand, int32_t columnOperand) {
    Slot matrix = operand(instruction, 0);
    llvm::Value *columns = ofMatrix(matrix, 2);
    llvm::Value *row = builder_.CreateSub(value(instruction, rowOperand), builder_.getInt64(1));
    llvm::Value *column =
        builder_.CreateSub(value(instruction, columnOperand), builder_.getInt64(1));
    leaveIf(builder_.CreateOr(builder_.CreateICmpUGE(row, ofMatrix(matrix, 1)),
                              builder_.CreateICmpUGE(column, columns)));
    llvm::Value *place = builder_.CreateAdd(builder_.CreateMul(row, columns), column);
    llvm::Value *cells = builder_.CreateIntToPtr(ofMatrix(matrix, 0), builder_.getPtrTy());
    return builder_.CreateInBoundsGEP(builder_.getDoubleTy(), cells, place);
  }

  void emit(const Instruction &instruction) {
    int32_t index = instruction.index;
    bool isOfMatrix = instruction.operandCount > 0 && type(instruction, 0) == SlotType::Matrix;
    switch (instruction.opcode) {
    case Opcode::Constant:
      return assign(instruction, constant(image_.constants[index]));
    case Opcode::Move:
    case Opcode::Copy:
      if (!isOfMatrix)
        assign(instruction, value(instruction, 0));
      return;
    case Opcode::Unary:
      return assign(instruction, unary(static_cast<UnaryOperator>(index), value(instruction, 0)));
    case Opcode::Binary:
      return assign(instruction, binary(static_cast<BinaryOperator>(index), value(instruction, 0),
                                        value(instruction, 1)));
    case Opcode::IfElse:
      return assign(instruction,
                    builder_.CreateSelect(asBoolean(value(instruction, 0)), value(instruction, 1),
                                          value(instruction, 2)));
    case Opcode::Cast:
      return assign(instruction, cast(loop_.types[result(instruction)], value(instruction, 0)));
    case Opcode::Rows:
      return assign(instruction, ofMatrix(operand(instruction, 0), 1));
    case Opcode::Columns:
      return assign(instruction, ofMatrix(operand(instruction, 0), 2));
    case Opcode::Length:
      return assign(instruction, builder_.CreateMul(ofMatrix(operand(instruction, 0), 1),
                                                    ofMatrix(operand(instruction, 0), 2)));
    case Opcode::ReadCell:
      return assign(instruction,
                    builder_.CreateLoad(builder_.getDoubleTy(), cell(instruction, 1, 3)));
    case Opcode::WriteCell: {
      llvm::Value *address = cell(instruction, 2, 4);
      builder_.CreateStore(asDouble(value(instruction, 1)), address);
      return;
    }
    case Opcode::Jump:
      return jump(instruction.target);
    case Opcode::BranchIfNot:
      builder_.CreateCondBr(asBoolean(value(instruction, 0)), blockOf(current_ + 1),
                            blockOf(instruction.target));
      return;
    case Opcode::LoopTest: {
      llvm::Value *counter = value(instruction, 0), *to = value(instruction, 1);
      llvm::Value *step = value(instruction, 2), *zero = builder_.getInt64(0);
      leaveIf(builder_.CreateICmpEQ(step, zero));
      llvm::Value *isWithin = builder_.CreateSelect(builder_.CreateICmpSGT(step, zero),
                                                    builder_.CreateICmpSLE(counter, to),
                                                    builder_.CreateICmpSGE(counter, to));
      builder_.CreateCondBr(isWithin, blockOf(current_ + 1), blockOf(instruction.target));
      return;
    }
    case Opcode::LoopStep: {
      llvm::Value *pair = builder_.CreateBinaryIntrinsic(
          llvm::Intrinsic::sadd_with_overflow, value(instruction, 0), value(instruction, 1));
      llvm::BasicBlock *goingOn = newBlock();
      builder_.CreateCondBr(builder_.CreateExtractValue(pair, 1), blockOf(current_ + 1), goingOn);
      builder_.SetInsertPoint(goingOn);
      assign(instruction, builder_.CreateExtractValue(pair, 0));
      return jump(instruction.target);
    }
    default:
      return; // Free: numbers need not be freed
    }
  }

  const Image &image_;
  const ImageFunction &function_;
  const ScalarLoop &loop_;
  llvm::IRBuilder<> builder_;
  llvm::Function *code_;
  llvm::BasicBlock *leaving_ = nullptr;
  llvm::Value *words_, *remaining_ = nullptr, *leftAt_ = nullptr;
  std::vector<llvm::Value *> variables_; // by slot; null: a matrix, or not used
  std::vector<bool> isAssigned_;         // by slot
  std::vector<llvm::BasicBlock *> blocks_;
  int32_t current_ = 0;
};

} // namespace

std::shared_ptr<const runtime::CompiledLoop> LoopCompiler::compile(const Image &image,
                                                                   const ImageFunction &function,
                                                                   int32_t head, int32_t end,
                                                                   const runtime::Value *slots) {
  std::optional<ScalarLoop> loop = runtime::scalarLoopAt(image, function, head, end, slots);
  if (!loop)
    return nullptr;
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = loops_.try_emplace({&function.instructions[head], loop->types});
  if (!isNew)
    return entry->second;
  UncheckedByThreadSanitizer section;
  auto start = std::chrono::steady_clock::now();
  if (!emitter_) {
    auto emitter = codegen::CodeEmitter::create(codegen::hostTarget());
    if (!emitter) {
      llvm::consumeError(emitter.takeError());
      return nullptr;
    }
    emitter_ = std::move(*emitter);
  }
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  llvm::Module module("loop", context);
  module.setDataLayout(emitter_->machine().createDataLayout());
  module.setTargetTriple(emitter_->machine().getTargetTriple().str());
  Emission(image, function, *loop, module).run();
  if (llvm::Error error = codegen::optimize(module, emitter_->machine()))
    internalError("a loop can't be compiled: " + llvm::toString(std::move(error)));
  auto linked = codegen::MachineCode::link(emitter_->emitObject(module)->getMemBufferRef());
  if (!linked)
    internalError("a loop can't be linked: " + llvm::toString(linked.takeError()));
  auto compiled = std::make_shared<runtime::CompiledLoop>();
  compiled->loop = std::move(*loop);
  compiled->code = reinterpret_cast<int32_t (*)(int64_t *, int64_t)>((*linked)->address("loop"));
  compiled->memory = std::move(*linked);
  entry->second = std::move(compiled);
  ++statistics_.compiled;
  statistics_.nanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count();
  return entry->second;
}

LoopCompiler::Statistics LoopCompiler::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}
