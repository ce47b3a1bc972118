// Compiles loops of scalars (runtime/image/ScalarLoop.h) that many iterations have been interpreted
// of.
//
//   LoopCompiler compiler;
//   auto compiled = compiler.compile(image, function, head, end, slots);   // null: stays interpreted
//
// Compiled code gives the same bits as interpretation: the few operators that are not single
// instructions are calls of the functions that the interpreter calls.
#ifndef TOKAMAK_EXEC_LOOPCOMPILER_H
#define TOKAMAK_EXEC_LOOPCOMPILER_H

#include "codegen/CodeEmitter.h"
#include "runtime/image/ScalarLoop.h"

#include <map>
#include <mutex>

namespace tokamak::exec {

// Thread-safe.
class LoopCompiler {
public:
  // Of the instructions [head, end) of a function, with the values that the slots have at the head.
  std::shared_ptr<const runtime::CompiledLoop> compile(const runtime::Image &image,
                                                       const runtime::ImageFunction &function,
                                                       int32_t head, int32_t end,
                                                       const runtime::Value *slots);
  struct Statistics {
    int64_t compiled = 0, nanoseconds = 0;
  };
  Statistics statistics() const;

private:
  using Types = std::vector<runtime::SlotType>;
  mutable std::mutex mutex_; // guards all members
  std::unique_ptr<codegen::CodeEmitter> emitter_;
  // By first instruction and types: the threads of a parallel loop share what one has compiled.
  std::map<std::pair<const runtime::Instruction *, Types>,
           std::shared_ptr<const runtime::CompiledLoop>>
      loops_;
  Statistics statistics_;
};

} // namespace tokamak::exec
#endif
