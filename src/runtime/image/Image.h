// The program image: flat instructions over numbered slots, the form in which every program is
// executed. It is immutable.
//
//   print(image, std::cout);     // what --explain=image shows
//
// A program of rand(rows=3, cols=3) and a block, as text:
//
//   function main: 6 slots
//     0  s0 = constant 3
//     1  s1 = native rand(s0, s0, ...)             @ hello.dml:1:5
//     2  s2 = block 0 (s1)
//     3  branch-if-not s2 -> 7
#ifndef TOKAMAK_RUNTIME_IMAGE_IMAGE_H
#define TOKAMAK_RUNTIME_IMAGE_IMAGE_H

#include "abi/KernelPlan.h"
#include "base/CellOperators.h"
#include "base/Error.h"
#include "runtime/natives/Native.h"
#include "runtime/values/Value.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::runtime {

using abi::KernelOutput;
using abi::KernelPlan;

using Slot = int32_t;

enum class Opcode : uint8_t {
  Constant,     // r0 = constants[index]
  Move,         // r0 = o0, o0 is dead afterwards
  Copy,         // r0 = o0
  Free,         // o... are not used afterwards
  Unary,        // r0 = unary(o0); index: UnaryOperator, scalars only
  Binary,       // r0 = binary(o0, o1); index: BinaryOperator, scalars only
  Concat,       // r0 = text of o0 + text of o1
  IfElse,       // r0 = o0 ? o1 : o2, scalars
  Cast,         // r0 = o0 converted to CastTarget(index)
  Rows,         // r0 = rows of o0
  Columns,      // r0 = columns of o0
  Length,       // r0 = cells of o0
  Size,         // r0 = size of dimension `index` (from 0) of o0
  Native,       // r... = natives[index](o...)
  ReadCell,     // the same, where a slice is one cell; r0 is its number
  WriteCell,    // the same, where an insertion replaces one cell
  Kernel,       // r... = kernels[index](o...)
  Block,        // r... = block index (o...), planned when first reached (late binding)
  Call,         // r... = functions[index](o...)
  ParallelLoop, // r... = loops[index](from, to, step, carried..., captured...)
  Jump,         // to target
  BranchIfNot,  // to target if o0 is false
  LoopTest,     // to target unless o0 (counter) is within o1 (to) for step o2
  LoopStep,     // r0 = o0 + o1 (counter, step), to target; past the largest integer: no jump
  Return,       // o... are the results
};

// Whether the instruction may go on at its target.
inline bool mayJump(Opcode opcode) {
  return opcode == Opcode::Jump || opcode == Opcode::BranchIfNot || opcode == Opcode::LoopTest ||
         opcode == Opcode::LoopStep;
}

// Whether it consumes operands at their last use (see Instruction::lastUse). What other instructions
// use last is freed behind them.
inline bool mayConsume(Opcode opcode) {
  switch (opcode) {
  case Opcode::Move:
  case Opcode::Native:
  case Opcode::ReadCell:
  case Opcode::WriteCell:
  case Opcode::Kernel:
  case Opcode::Block:
  case Opcode::Call:
  case Opcode::ParallelLoop:
  case Opcode::Return:
    return true;
  default:
    return false;
  }
}

enum class CastTarget : uint8_t { Boolean, Integer, Double, Text, Matrix, Scalar, List, Frame };

// Operands and results are ranges of `ImageFunction::slots`.
struct Instruction {
  Opcode opcode;
  // Jumps back to the head of a loop: the loop's number in the image, from 1; 0: not known.
  int32_t index = 0;
  // Branches: the index of the next instruction. Natives: 1 + the number of the carried value of
  // the enclosing parallel loop whose cells are replaced and must be recorded; 0: none.
  int32_t target = 0;
  int32_t operandBegin = 0, operandCount = 0;
  int32_t resultBegin = 0, resultCount = 0;
  int32_t place = 0; // index into Image::places
  // Bit i: operand i is not used afterwards, so the instruction may consume it (move it or update
  // it in place). Of operands in the same slot, only the last may be consumed.
  uint64_t lastUse = 0;
  // Natives, casts: the element type of those results that are arrays.
  ElementType elementType = ElementType::F64;
  int32_t prediction = 0; // natives: 1 + index into Image::predictions; 0: none
};

struct ImageFunction {
  std::string name;
  int32_t parameterCount = 0; // slots 0..parameterCount-1
  int32_t resultCount = 0;
  int32_t slotCount = 0;
  std::vector<Instruction> instructions;
  std::vector<Slot> slots; // operand and result lists of all instructions
};

// How the values that iterations leave in a carried value are merged into the loop's result.
enum class Merge : uint8_t {
  Last,  // the value of the last iteration
  Cells, // iterations replace cells of a matrix, or elements of a list
  Sum,   // iterations add to it
};

struct ParallelLoop {
  // The function of one iteration: (counter, carried..., captured...) -> carried...
  int32_t body = 0;
  int32_t workers = 0; // most threads to use; 0: all
  // Proved: no iteration reads or replaces cells that another one replaces.
  bool isIndependent = false;
  // For each carried value. If there are fewer, the iterations run in order, one after the other.
  std::vector<Merge> merges;
  // For a nested loop: for each carried value, the carried value of the enclosing loop whose cells
  // it replaces, or -1.
  std::vector<int32_t> outerValues;
};

struct Image {
  std::vector<ImageFunction> functions; // 0 is the entry
  std::vector<ParallelLoop> loops;
  std::vector<Value> constants;
  std::vector<const Native *> natives;
  std::vector<KernelPlan> kernels;
  std::vector<Prediction> predictions; // of natives
  std::vector<SourcePlace> places;     // 0 = unknown
  // For each place: the call sites through which the inlined code was reached, innermost first.
  std::vector<std::vector<SourcePlace>> callers;
};

void print(const Image &image, std::ostream &out);

struct CompiledFunction; // ScalarFunction.h
struct CompiledLoop;     // ScalarLoop.h
enum class SlotType : uint8_t;

// Where a block is about to be executed.
struct BlockPlace {
  const ImageFunction &function;
  const Instruction &instruction; // of the function
  const Value *slots;
};

// Supplies the plan for a block when it is reached: an image whose function 0 has the block's
// inputs as parameters. The compiler implements it (exec/LateBinding.h); a program compiled ahead
// of time uses a fixed table (PlanTable).
class BlockProvider {
public:
  virtual ~BlockProvider() = default;
  // `inputs` are the block's operands, which may be replaced by equal ones in another layout. The image
  // stays valid as long as the returned pointer; its function 0 is the plan. Between beginParallel and endParallel several threads may call this at
  // the same time; the result then depends on the inputs and on earlier calls, not on the order of
  // concurrent calls.
  virtual std::shared_ptr<const Image> planFor(int32_t block, std::span<Value> inputs,
                                               const BlockPlace &place) = 0;
  // After how many iterations a loop, and after how many calls a function is to be compiled.
  virtual int64_t iterationsBeforeCompiling() const { return INT64_MAX; }
  // Code for the loop of instructions [head, end) of a function of the program's image, for the types
  // of the values that its slots have at the head; null if there is none (ScalarLoop.h). Thread-safe.
  virtual std::shared_ptr<const CompiledLoop> compileLoop(const Image &, const ImageFunction &,
                                                          int32_t /*head*/, int32_t /*end*/,
                                                          const Value * /*slots*/) {
    return nullptr;
  }
  // Code for a function of the program's image with arguments of these types; null if there is none
  // (ScalarFunction.h). Thread-safe.
  virtual std::shared_ptr<const CompiledFunction>
  compileFunction(const Image &, int32_t /*function*/,
                  const std::vector<SlotType> & /*arguments*/) {
    return nullptr;
  }
  virtual void beginParallel() {}
  virtual void endParallel() {}
};

} // namespace tokamak::runtime
#endif
