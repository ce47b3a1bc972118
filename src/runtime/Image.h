// The program image: flat instructions over numbered slots, the form in which every program runs.
// It is immutable and printable; `print(image)` is what --explain=image shows:
//
//   function main: 6 slots
//     0  s0 = constant 3
//     1  s1 = native rand(s0, s0, ...)             @ hello.dml:1:5
//     2  s2 = block 0 (s1)
//     3  branch-if-not s2 -> 7
#ifndef TOKAMAK_RUNTIME_IMAGE_H
#define TOKAMAK_RUNTIME_IMAGE_H

#include "abi/KernelPlan.h"
#include "base/CellOperators.h"
#include "base/Error.h"
#include "runtime/Native.h"
#include "runtime/Value.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::runtime {

using abi::KernelOutput;
using abi::KernelPlan;
using abi::SizeExpression;

using Slot = int32_t;

enum class Opcode : uint8_t {
  Constant,    // r0 = constants[index]
  Move,        // r0 = o0, o0 is dead afterwards
  Copy,        // r0 = o0
  Free,        // o... are dead
  Unary,       // r0 = unary(o0); index: UnaryOperator, scalars only
  Binary,      // r0 = binary(o0, o1); index: BinaryOperator, scalars only
  Concat,      // r0 = text of o0 + text of o1
  IfElse,      // r0 = o0 ? o1 : o2, scalars
  Cast,        // r0 = o0 converted to CastTarget(index)
  Rows,        // r0 = rows of o0
  Columns,     // r0 = columns of o0
  Length,      // r0 = cells of o0
  Native,      // r... = natives[index](o...)
  Kernel,      // r... = kernels[index](o...)
  Block,       // r... = block index (o...), planned when first reached (late binding)
  Call,        // r... = functions[index](o...)
  Jump,        // to target
  BranchIfNot, // to target if o0 is false
  LoopTest,    // to target unless o0 (counter) is within o1 (to) for step o2
  Return,      // o... are the results
};

enum class CastTarget : uint8_t { Boolean, Integer, Double, Text, Matrix, Scalar, List, Frame };

// Operands and results are ranges of `ImageFunction::slots`.
struct Instruction {
  Opcode opcode;
  int32_t index = 0;
  int32_t target = 0;
  int32_t operandBegin = 0, operandCount = 0;
  int32_t resultBegin = 0, resultCount = 0;
  int32_t place = 0; // index into Image::places
  // Bit i: operand i is not used afterwards, so the instruction may consume it (move, update in
  // place).
  uint64_t lastUse = 0;
};

struct ImageFunction {
  std::string name;
  int32_t parameterCount = 0; // slots 0..parameterCount-1
  int32_t resultCount = 0;
  int32_t slotCount = 0;
  std::vector<Instruction> instructions;
  std::vector<Slot> slots; // operand and result lists of all instructions
};

struct Image {
  std::vector<ImageFunction> functions; // 0 is the entry
  std::vector<Value> constants;
  std::vector<const Native *> natives;
  std::vector<KernelPlan> kernels;
  std::vector<SourcePlace> places; // 0 = unknown
  // Of inlined code: the calls that led to the place, innermost first; as many entries as places.
  std::vector<std::vector<SourcePlace>> callers;
};

void print(const Image &image, std::ostream &out);

// Supplies the plan for a block when it is reached: a function of an image whose parameters are the
// block's inputs. The compiler side implements it (exec/LateBinding.h); an image compiled ahead of
// time brings a fixed table.
class BlockProvider {
public:
  virtual ~BlockProvider() = default;
  // `inputs` are the block's operands. The returned image stays valid while the pointer lives;
  // function 0 is the plan.
  virtual std::shared_ptr<const Image> planFor(int32_t block, std::span<const Value> inputs) = 0;
};

} // namespace tokamak::runtime
#endif
