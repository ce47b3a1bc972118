#include "runtime/image/HotCode.h"

namespace tokamak::runtime {

// What is never compiled: so many iterations or calls are never counted.
static constexpr int64_t never = INT64_MIN;

HotCode::HotCode(const Image &image, BlockProvider *provider, std::function<bool()> mayGoOn)
    : image_(image), provider_(provider), mayGoOn_(std::move(mayGoOn)),
      iterationsBeforeCompiling_(provider ? provider->iterationsBeforeCompiling() : INT64_MAX) {
  calls_.run = this;
  calls_.goOn = [](CompiledCalls *calls) {
    const auto *hot = static_cast<const HotCode *>(calls->run);
    calls->remaining = hot->iterationsPerEntry();
    return hot->mayGoOn_();
  };
}

HotCode::Loop &HotCode::loopOf(const Instruction &jump) {
  auto number = static_cast<size_t>(jump.index);
  if (loops_.size() < number)
    loops_.resize(number);
  return loops_[number - 1];
}

bool HotCode::countIteration(const Instruction &jump) {
  return jump.index > 0 && ++loopOf(jump).iterations > iterationsBeforeCompiling_;
}

// Rather the loop around this one is compiled, from its next iteration on, unless that takes long to come.
bool HotCode::waitsForLoopAround(const ImageFunction &function, const Instruction &jump,
                                 Value *slots) {
  if (loopOf(jump).hasWaited)
    return false;
  loopOf(jump).hasWaited = true;
  auto count = static_cast<int32_t>(function.instructions.size());
  auto end = static_cast<int32_t>(&jump - function.instructions.data()) + 1;
  for (int32_t i = end; i < count; ++i) {
    const Instruction &outer = function.instructions[i];
    bool isAround = (outer.opcode == Opcode::Jump || outer.opcode == Opcode::LoopStep) &&
                    outer.index > 0 && outer.target < jump.target;
    if (!isAround || !scalarLoopAt(image_, function, outer.target, i + 1, slots))
      continue;
    loopOf(outer).iterations = iterationsBeforeCompiling_;
    loopOf(jump).iterations = -16 * iterationsBeforeCompiling_;
    return true;
  }
  return false;
}

int32_t HotCode::goOn(const ImageFunction &function, const Instruction &jump, Value *slots,
                      int64_t nested) {
  if (!loopOf(jump).compiled && waitsForLoopAround(function, jump, slots))
    return jump.target;
  Loop &loop = loopOf(jump);
  if (!loop.compiled) {
    auto end = static_cast<int32_t>(&jump - function.instructions.data()) + 1;
    loop.compiled = provider_->compileLoop(image_, function, jump.target, end, slots);
    if (!loop.compiled) {
      loop.iterations = never;
      return jump.target;
    }
  }
  const ScalarLoop &analysed = loop.compiled->loop;
  // Another type, or a matrix that is shared with a copy: that may be otherwise some time later.
  if (!analysed.take(slots, words_)) {
    loop.compiled.reset();
    loop.iterations = -iterationsBeforeCompiling_;
    return jump.target;
  }
  int32_t next = loop.compiled->code(words_.data(), iterationsPerEntry(), calls(nested));
  analysed.giveBack(words_, next, slots);
  // Some call can't be computed by compiled code; the next iteration's might not, either.
  if (calls_.hasGivenUp)
    loop.iterations = never;
  return next;
}

CompiledCalls *HotCode::calls(int64_t nested) {
  calls_.nested = nested;
  calls_.hasGivenUp = false;
  return &calls_;
}

// Numbers that are passed to compiled functions, and back.
static constexpr int32_t mostWords = 16;

// The code for the types that the operands have; null if there is none, or not yet.
const CompiledFunction *HotCode::compiledFor(const Instruction &instruction, const Slot *operands,
                                             const Value *slots) {
  if (functions_.empty())
    functions_.resize(image_.functions.size());
  Function &called = functions_[instruction.index];
  if (!called.compiled) {
    if (++called.calls <= iterationsBeforeCompiling_)
      return nullptr;
    std::vector<SlotType> types;
    for (int32_t i = 0; i < instruction.operandCount; ++i)
      types.push_back(typeOf(slots[operands[i]]));
    if (std::max(instruction.operandCount, instruction.resultCount) <= mostWords)
      called.compiled = provider_->compileFunction(image_, instruction.index, types);
    if (!called.compiled) {
      called.calls = never;
      return nullptr;
    }
  }
  for (int32_t i = 0; i < instruction.operandCount; ++i)
    if (typeOf(slots[operands[i]]) !=
        called.compiled->arguments[i]) { // that may be otherwise some time later
      called = {.calls = -iterationsBeforeCompiling_, .compiled = {}};
      return nullptr;
    }
  return called.compiled.get();
}

bool HotCode::call(const Instruction &instruction, const Slot *lists, Value *slots,
                   int64_t nested) {
  const Slot *operands = lists + instruction.operandBegin;
  const CompiledFunction *function = compiledFor(instruction, operands, slots);
  if (!function)
    return false;
  int64_t words[mostWords];
  for (int32_t i = 0; i < instruction.operandCount; ++i)
    words[i] = wordOf(slots[operands[i]]);
  // What it can't go on with is interpreted from the beginning, and so are further calls: compiled
  // code would give up again.
  if (!function->code(calls(nested), words)) {
    functions_[instruction.index] = {.calls = never, .compiled = {}};
    return false;
  }
  const Slot *results = lists + instruction.resultBegin;
  for (int32_t i = 0; i < instruction.resultCount; ++i)
    slots[results[i]] = valueOfWord(function->results[i], words[i]);
  return true;
}

} // namespace tokamak::runtime
