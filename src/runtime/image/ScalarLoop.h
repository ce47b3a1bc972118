// Loops of an image that compute with numbers and cells of matrices alone: they can be compiled once
// many iterations have been interpreted, for the types that their slots have then.
//
//   std::optional<ScalarLoop> loop = scalarLoopAt(image, function, head, end, slots);
//   if (loop && loop->take(slots, words))                    // numbers as 64-bit words
//     loop->giveBack(words, code(words.data(), iterations, &calls), slots);
//
// A loop is a range of instructions that ends with the jump back to its first one, and that is left
// to the instruction behind it. Compiled code does what interpretation would do. Before an instruction
// that would fail, and after a number of iterations, it returns: then the executor goes on there.
#ifndef TOKAMAK_RUNTIME_IMAGE_SCALARLOOP_H
#define TOKAMAK_RUNTIME_IMAGE_SCALARLOOP_H

#include "runtime/image/ScalarFunction.h"

#include <optional>
#include <span>

namespace tokamak::runtime {

struct ScalarLoop {
  // Of a slot in the words of compiled code: its number; of a matrix the address of its cells (dense
  // doubles), its rows, its columns.
  static constexpr int32_t wordsPerSlot = 3;

  int32_t head = 0, end = 0;   // instructions of the function
  std::vector<SlotType> types; // by slot of the function; None: not used by the loop
  std::vector<Slot> matrixOf;  // by slot: of a matrix, the slot in which it enters the loop
  std::vector<Slot> matrices;  // the slots in which matrices enter
  // Before each instruction, and behind the last one: the slots that hold the matrices then.
  std::vector<std::vector<Slot>> holders;
  std::vector<bool> isWritten; // by slot: of a matrix that enters the loop: cells are replaced
  // The functions that the loop calls, and which of them an instruction calls.
  std::optional<ScalarFunctions> functions;
  std::map<int32_t, int32_t> callees;

  // Fills in the words from the slots. False, and nothing is changed, if these have other types than
  // the loop was analysed for, or if a matrix to be written has several owners.
  bool take(Value *slots, std::vector<int64_t> &words) const;
  // Assigns the numbers, and passes the matrices on to the slots in which they are before instruction
  // `next`.
  void giveBack(const std::vector<int64_t> &words, int32_t next, Value *slots) const;
};

// nullopt if the loop does something else, or if the type of a slot changes. `slots` has the values
// at the loop's head.
std::optional<ScalarLoop> scalarLoopAt(const Image &image, const ImageFunction &function,
                                       int32_t head, int32_t end, const Value *slots);

struct CompiledLoop {
  ScalarLoop loop;
  // Runs from the loop's head, at most `iterations` (of all nested loops, together). Returns the
  // instruction at which interpretation goes on.
  int32_t (*code)(int64_t *words, int64_t iterations, CompiledCalls *calls) = nullptr;
  std::shared_ptr<void> memory; // of the code
};

} // namespace tokamak::runtime
#endif
