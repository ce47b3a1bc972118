// Emits LLVM IR for instructions that compute with numbers, one block for each. What it does where the
// code can't go on, and at jumps backwards, is up to the derived classes: for loops and for functions
// (ScalarCompiler.cpp).
//
// Slots are variables in memory, which LLVM turns into registers.
//
//   struct Straight final : ScalarEmission { // a range without loops and calls; the code returns nothing
//     Straight(const EmittedRange &range, llvm::Function *code) : ScalarEmission(range, code) {
//       begin();
//       emitInstructions();
//       leave(range.end);
//     }
//     void leave(int32_t) override { builder_.CreateRetVoid(); }
//     void jumpBack(int32_t) override { builder_.CreateUnreachable(); }
//     llvm::Value *calls() override { return nullptr; }
//     llvm::Value *nestedCalls() override { return nullptr; }
//   };
#ifndef TOKAMAK_EXEC_SCALAREMISSION_H
#define TOKAMAK_EXEC_SCALAREMISSION_H

#include "runtime/image/ScalarFunction.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tokamak::exec {

// Instructions [head, end) of a function, with the types of its slots.
struct EmittedRange {
  const runtime::Image &image;
  const runtime::ImageFunction &function;
  int32_t head, end;
  const std::vector<runtime::SlotType> &types;
  const std::map<int32_t, int32_t> &callees; // by instruction: the number of the function called
};

// The names of the compiled functions, by number.
std::string nameOfScalarFunction(int32_t number);

class ScalarEmission {
protected:
  // `code` is a function without blocks.
  ScalarEmission(const EmittedRange &range, llvm::Function *code)
      : range_(range), builder_(code->getContext()), code_(code), variables_(range.types.size()) {}
  ~ScalarEmission() = default;

  // Ends the block: compiled code does not go on at this instruction.
  virtual void leave(int32_t instruction) = 0;
  // Ends the block with a jump back to the head of a loop.
  virtual void jumpBack(int32_t target) = 0;
  // CompiledCalls, and how many more calls may be nested.
  virtual llvm::Value *calls() = 0;
  virtual llvm::Value *nestedCalls() = 0;
  virtual void noteAssigned(runtime::Slot) {}
  virtual void emit(const runtime::Instruction &instruction);

  // Begins the entry block, with a variable for each number. Its instructions follow in blocks that
  // emitInstructions() fills; the last one is that of instruction `end`.
  void begin();
  void emitInstructions();

  llvm::BasicBlock *newBlock() {
    return llvm::BasicBlock::Create(builder_.getContext(), "", code_);
  }
  llvm::BasicBlock *blockOf(int32_t instruction) { return blocks_[instruction - range_.head]; }
  llvm::Type *typeOf(runtime::SlotType type);
  runtime::Slot operand(const runtime::Instruction &instruction, int32_t i) const {
    return range_.function.slots[instruction.operandBegin + i];
  }
  runtime::SlotType type(const runtime::Instruction &instruction, int32_t i) const {
    return range_.types[operand(instruction, i)];
  }
  llvm::Value *value(const runtime::Instruction &instruction, int32_t i) {
    return valueOf(operand(instruction, i));
  }
  llvm::Value *valueOf(runtime::Slot slot) {
    return builder_.CreateLoad(typeOf(range_.types[slot]), variables_[slot]);
  }
  void assign(const runtime::Instruction &instruction, llvm::Value *value, int32_t result = 0) {
    runtime::Slot slot = range_.function.slots[instruction.resultBegin + result];
    builder_.CreateStore(value, variables_[slot]);
    noteAssigned(slot);
  }
  // Numbers as 64-bit words, and back.
  llvm::Value *toWord(llvm::Value *value);
  llvm::Value *fromWord(llvm::Value *word, llvm::Type *type);
  llvm::Value *asDouble(llvm::Value *value);
  void leaveIf(llvm::Value *condition);

  EmittedRange range_;
  llvm::IRBuilder<> builder_;
  llvm::Function *code_;
  std::vector<llvm::Value *> variables_; // by slot; null: not a number
  int32_t current_ = 0;                  // the instruction being emitted

private:
  void jump(int32_t target);
  void emitCall(const runtime::Instruction &instruction);
  llvm::Value *asBoolean(llvm::Value *value);
  llvm::Value *number(double value);
  llvm::Value *call(void *function, llvm::Type *result, llvm::ArrayRef<llvm::Value *> arguments);
  llvm::Value *unary(UnaryOperator op, llvm::Value *operand);
  llvm::Value *withOverflow(llvm::Intrinsic::ID intrinsic, llvm::Value *a, llvm::Value *b);
  llvm::Value *ofIntegers(BinaryOperator op, llvm::Value *a, llvm::Value *b);
  llvm::Value *binary(BinaryOperator op, llvm::Value *lhs, llvm::Value *rhs);
  llvm::Value *cast(runtime::SlotType target, llvm::Value *value);
  llvm::Value *constant(const runtime::Value &value);

  std::vector<llvm::BasicBlock *> blocks_;
};

} // namespace tokamak::exec
#endif
