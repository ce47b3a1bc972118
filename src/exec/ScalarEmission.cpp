#include "exec/ScalarEmission.h"

#include "base/CellOperators.h"

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Instruction;
using runtime::Opcode;
using runtime::Slot;
using runtime::SlotType;

static double callUnary(int64_t op, double x) {
  return evaluate(static_cast<UnaryOperator>(op), x);
}
static double callBinary(int64_t op, double a, double b) {
  return evaluate(static_cast<BinaryOperator>(op), a, b);
}

std::string tokamak::exec::nameOfScalarFunction(int32_t number) {
  return "function" + std::to_string(number);
}

void ScalarEmission::begin() {
  llvm::BasicBlock *entry = newBlock();
  for (int32_t i = range_.head; i <= range_.end; ++i)
    blocks_.push_back(newBlock());
  builder_.SetInsertPoint(entry);
  for (size_t slot = 0; slot < range_.types.size(); ++slot)
    if (runtime::isNumber(range_.types[slot]))
      variables_[slot] = builder_.CreateAlloca(typeOf(range_.types[slot]));
}

void ScalarEmission::emitInstructions() {
  builder_.CreateBr(blockOf(range_.head));
  for (current_ = range_.head; current_ < range_.end; ++current_) {
    builder_.SetInsertPoint(blockOf(current_));
    emit(range_.function.instructions[current_]);
    if (!builder_.GetInsertBlock()->getTerminator())
      builder_.CreateBr(blockOf(current_ + 1));
  }
  builder_.SetInsertPoint(blockOf(range_.end));
}

llvm::Type *ScalarEmission::typeOf(SlotType type) {
  switch (type) {
  case SlotType::Boolean:
    return builder_.getInt1Ty();
  case SlotType::Integer:
    return builder_.getInt64Ty();
  default:
    return builder_.getDoubleTy();
  }
}

llvm::Value *ScalarEmission::toWord(llvm::Value *value) {
  return value->getType()->isDoubleTy() ? builder_.CreateBitCast(value, builder_.getInt64Ty())
                                        : builder_.CreateZExt(value, builder_.getInt64Ty());
}

llvm::Value *ScalarEmission::fromWord(llvm::Value *word, llvm::Type *type) {
  return type->isDoubleTy() ? builder_.CreateBitCast(word, type) : builder_.CreateTrunc(word, type);
}

void ScalarEmission::jump(int32_t target) {
  if (target > current_)
    builder_.CreateBr(blockOf(target));
  else
    jumpBack(target);
}

// The function's first result says whether it has reached its end.
void ScalarEmission::emitCall(const Instruction &instruction) {
  llvm::Value *nested = nestedCalls();
  leaveIf(builder_.CreateICmpSLE(nested, builder_.getInt64(0)));
  llvm::SmallVector<llvm::Value *> arguments = {calls(),
                                                builder_.CreateSub(nested, builder_.getInt64(1))};
  for (int32_t i = 0; i < instruction.operandCount; ++i)
    arguments.push_back(value(instruction, i));
  llvm::Function *callee =
      code_->getParent()->getFunction(nameOfScalarFunction(range_.callees.at(current_)));
  llvm::Value *results = builder_.CreateCall(callee, arguments);
  leaveIf(builder_.CreateNot(builder_.CreateExtractValue(results, 0)));
  for (int32_t i = 0; i < instruction.resultCount; ++i)
    assign(instruction, builder_.CreateExtractValue(results, static_cast<unsigned>(i) + 1), i);
}

llvm::Value *ScalarEmission::asDouble(llvm::Value *value) {
  if (value->getType()->isDoubleTy())
    return value;
  return value->getType()->isIntegerTy(1) ? builder_.CreateUIToFP(value, builder_.getDoubleTy())
                                          : builder_.CreateSIToFP(value, builder_.getDoubleTy());
}
llvm::Value *ScalarEmission::number(double value) {
  return llvm::ConstantFP::get(builder_.getDoubleTy(), value);
}
llvm::Value *ScalarEmission::asBoolean(llvm::Value *value) {
  if (value->getType()->isIntegerTy(1))
    return value;
  return value->getType()->isDoubleTy() ? builder_.CreateFCmpUNE(value, number(0))
                                        : builder_.CreateICmpNE(value, builder_.getInt64(0));
}

// What can't go on here is left to the interpreter, which says what is wrong.
void ScalarEmission::leaveIf(llvm::Value *condition) {
  llvm::BasicBlock *leaving = newBlock(), *staying = newBlock();
  builder_.CreateCondBr(condition, leaving, staying);
  builder_.SetInsertPoint(leaving);
  leave(current_);
  builder_.SetInsertPoint(staying);
}

llvm::Value *ScalarEmission::call(void *function, llvm::Type *result,
                                  llvm::ArrayRef<llvm::Value *> arguments) {
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

llvm::Value *ScalarEmission::unary(UnaryOperator op, llvm::Value *operand) {
  if (operand->getType()->isIntegerTy(64) && resultOf(op) == CellResult::Number) {
    leaveIf(builder_.CreateICmpEQ(operand, builder_.getInt64(INT64_MIN)));
    llvm::Value *negative = builder_.CreateNeg(operand);
    return op == UnaryOperator::Neg
               ? negative
               : builder_.CreateSelect(builder_.CreateICmpSLT(operand, builder_.getInt64(0)),
                                       negative, operand);
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

llvm::Value *ScalarEmission::withOverflow(llvm::Intrinsic::ID intrinsic, llvm::Value *a,
                                          llvm::Value *b) {
  llvm::Value *pair = builder_.CreateBinaryIntrinsic(intrinsic, a, b);
  leaveIf(builder_.CreateExtractValue(pair, 1));
  return builder_.CreateExtractValue(pair, 0);
}

// As evaluateInteger computes it. Null for comparisons and for what gives doubles.
llvm::Value *ScalarEmission::ofIntegers(BinaryOperator op, llvm::Value *a, llvm::Value *b) {
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

llvm::Value *ScalarEmission::binary(BinaryOperator op, llvm::Value *lhs, llvm::Value *rhs) {
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

llvm::Value *ScalarEmission::cast(SlotType target, llvm::Value *value) {
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

llvm::Value *ScalarEmission::constant(const runtime::Value &value) {
  if (value.isBoolean())
    return builder_.getInt1(value.asBoolean());
  if (value.isInteger())
    return builder_.getInt64(value.asInteger());
  return number(value.asDouble());
}

void ScalarEmission::emit(const Instruction &instruction) {
  int32_t index = instruction.index;
  switch (instruction.opcode) {
  case Opcode::Constant: {
    const runtime::Value &content = range_.image.constants[index];
    if (content.isNumber()) // a text is of use only where compiled code ends
      assign(instruction, constant(content));
    return;
  }
  case Opcode::Move:
  case Opcode::Copy:
    return assign(instruction, value(instruction, 0));
  case Opcode::Unary:
    return assign(instruction, unary(static_cast<UnaryOperator>(index), value(instruction, 0)));
  case Opcode::Binary:
    return assign(instruction, binary(static_cast<BinaryOperator>(index), value(instruction, 0),
                                      value(instruction, 1)));
  case Opcode::IfElse:
    return assign(instruction, builder_.CreateSelect(asBoolean(value(instruction, 0)),
                                                     value(instruction, 1), value(instruction, 2)));
  case Opcode::Cast:
    return assign(instruction, cast(range_.types[range_.function.slots[instruction.resultBegin]],
                                    value(instruction, 0)));
  case Opcode::Call:
    return emitCall(instruction);
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
    if (runtime::endsCompiledCode(instruction))
      leave(current_);
    return; // Free: numbers need not be freed
  }
}
