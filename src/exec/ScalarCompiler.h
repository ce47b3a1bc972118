// Compiles loops of scalars (runtime/image/ScalarLoop.h) that many iterations have been interpreted
// of, and functions of scalars (runtime/image/ScalarFunction.h) that were called as often.
//
//   ScalarCompiler compiler;
//   auto loop = compiler.compileLoop(image, function, head, end, slots);   // null: stays interpreted
//   auto called = compiler.compileFunction(image, 1, {runtime::SlotType::Double});
//
// Compiled code gives the same bits as interpretation: the few operators that are not single
// instructions are calls of the functions that the interpreter calls.
#ifndef TOKAMAK_EXEC_SCALARCOMPILER_H
#define TOKAMAK_EXEC_SCALARCOMPILER_H

#include "codegen/CodeEmitter.h"
#include "codegen/MachineCode.h"
#include "runtime/image/ScalarLoop.h"

#include <map>
#include <mutex>

namespace tokamak::exec {

// Thread-safe.
class ScalarCompiler {
public:
  // Of the instructions [head, end) of a function, with the values that the slots have at the head.
  std::shared_ptr<const runtime::CompiledLoop> compileLoop(const runtime::Image &image,
                                                           const runtime::ImageFunction &function,
                                                           int32_t head, int32_t end,
                                                           const runtime::Value *slots);
  // Of a function of the image with such arguments.
  std::shared_ptr<const runtime::CompiledFunction>
  compileFunction(const runtime::Image &image, int32_t function,
                  const std::vector<runtime::SlotType> &arguments);
  struct Statistics {
    int64_t loops = 0, functions = 0, nanoseconds = 0;
  };
  Statistics statistics() const;

private:
  // Compiles what emit(module) emits; call with the lock held. Null if the machine has no target.
  template <typename Emit> std::shared_ptr<codegen::MachineCode> compileModule(const Emit &emit);

  using Types = std::vector<runtime::SlotType>;
  mutable std::mutex mutex_; // guards all members
  std::unique_ptr<codegen::CodeEmitter> emitter_;
  // By first instruction and types: the threads of a parallel loop share what one has compiled. Null:
  // can't be compiled.
  std::map<std::pair<const runtime::Instruction *, Types>,
           std::shared_ptr<const runtime::CompiledLoop>>
      loops_;
  std::map<std::pair<const runtime::ImageFunction *, Types>,
           std::shared_ptr<const runtime::CompiledFunction>>
      functions_;
  Statistics statistics_;
};

} // namespace tokamak::exec
#endif
