// Loops and functions of an image that were interpreted often go on in compiled code, where the provider can compile them
// (ScalarLoop.h, ScalarFunction.h). Each worker of a parallel loop counts for itself.
//
//   HotCode hot(image, provider, [] { return !isInterruptRequested(); });
//   if (hot.countIteration(jump))                              // at a jump back to a loop's head
//     next = hot.goOn(function, jump, slots, nested);          // the instruction at which interpretation goes on
//   if (!hot.call(instruction, lists, slots, nested)) ...      // not compiled: interpret the call
#ifndef TOKAMAK_RUNTIME_IMAGE_HOTCODE_H
#define TOKAMAK_RUNTIME_IMAGE_HOTCODE_H

#include "runtime/image/ScalarLoop.h"

#include <functional>

namespace tokamak::runtime {

class HotCode {
public:
  // `provider` may be null: then nothing is compiled. Compiled code asks from time to time whether it may go on; where it
  // may not, the executor interprets the next jump, which says why.
  HotCode(const Image &image, BlockProvider *provider, std::function<bool()> mayGoOn);

  // Whether anything is compiled of this image: not of plans.
  bool mayCompile(const Image &image) const {
    return &image == &image_ && iterationsBeforeCompiling_ != INT64_MAX;
  }
  // Of a loop of the image: whether there were enough iterations.
  bool countIteration(const Instruction &jump);
  // Runs compiled code from the loop's head, if there is any, with so many nested calls at most. Returns the next
  // instruction.
  int32_t goOn(const ImageFunction &function, const Instruction &jump, Value *slots,
               int64_t nested);
  // Calls compiled code if the function was called often and there is any. False if the call is to be interpreted.
  bool call(const Instruction &instruction, const Slot *lists, Value *slots, int64_t nested);

private:
  struct Loop {
    int64_t iterations = 0;
    bool hasWaited = false; // until the enclosing loop is compiled
    std::shared_ptr<const CompiledLoop> compiled;
  };
  struct Function {
    int64_t calls = 0;
    std::shared_ptr<const CompiledFunction> compiled;
  };
  Loop &loopOf(const Instruction &jump);
  bool waitsForLoopAround(const ImageFunction &function, const Instruction &jump, Value *slots);
  const CompiledFunction *compiledFor(const Instruction &instruction, const Slot *operands,
                                      const Value *slots);
  CompiledCalls *calls(int64_t nested);
  // A million, which take some milliseconds, so that interrupts are noticed; few in tests.
  int64_t iterationsPerEntry() const { return 100 * iterationsBeforeCompiling_; }

  const Image &image_;
  BlockProvider *provider_;
  std::function<bool()> mayGoOn_;
  int64_t iterationsBeforeCompiling_; // or calls
  std::vector<Loop> loops_;           // of the image, by number
  std::vector<Function> functions_;   // of the image, by number
  std::vector<int64_t> words_;        // of compiled loops
  CompiledCalls calls_;
};

} // namespace tokamak::runtime
#endif
