// Functions of an image that compute with numbers alone: they can be compiled, together with those
// that they call, for the types of their arguments.
//
//   ScalarFunctions functions(image);
//   std::optional<int32_t> number = functions.find(1, {SlotType::Double});
//   if (number)
//     functions[*number].results;                       // the types of the results
//
// They have no effect but failing. So compiled code may give up at any place, wherever it can't go
// on: the call is then interpreted from its beginning, and says what is wrong. Instructions that are
// of no use but for an effect or a message (print, stop) may stand in such a function; there compiled
// code gives up.
#ifndef TOKAMAK_RUNTIME_IMAGE_SCALARFUNCTION_H
#define TOKAMAK_RUNTIME_IMAGE_SCALARFUNCTION_H

#include "runtime/image/ScalarTypes.h"

#include <map>
#include <optional>

namespace tokamak::runtime {

// A function for these types of arguments.
struct ScalarFunction {
  int32_t function = 0;        // of the image
  std::vector<SlotType> types; // by slot, parameters first; None: not used
  std::vector<SlotType> results;
  std::map<int32_t, int32_t> callees; // by instruction: the number among ScalarFunctions
};

class ScalarFunctions {
public:
  explicit ScalarFunctions(const Image &image) : image_(&image) {}
  // The number of the function with such arguments, which is analysed with all that it calls;
  // nullopt if one of them does something else, or if the type of a slot depends on the path taken.
  std::optional<int32_t> find(int32_t function, const std::vector<SlotType> &arguments);
  const ScalarFunction &operator[](int32_t number) const { return functions_[number]; }
  int32_t size() const { return static_cast<int32_t>(functions_.size()); }

private:
  std::optional<int32_t> require(int32_t function, const std::vector<SlotType> &arguments);
  bool follow(int32_t number);
  bool isSuitable(const ScalarFunction &scalar) const;

  const Image *image_;
  std::vector<ScalarFunction> functions_;
  bool hasChanged_ = false;
};

// Whether compiled code may go on after an instruction without doing anything there, or gives up
// there: what neither changes numbers nor control flow.
bool endsCompiledCode(const Instruction &instruction);

// What compiled code knows of the run.
struct CompiledCalls {
  int64_t remaining = 0; // calls and iterations until `goOn` is asked
  // Whether to go on, as far as interrupts are concerned; sets `remaining`.
  bool (*goOn)(CompiledCalls *calls) = nullptr;
  int64_t nested = 0;      // calls that may be nested in one another
  bool hasGivenUp = false; // set where a function gives up
  const void *run = nullptr;
};

struct CompiledFunction {
  std::vector<SlotType> arguments, results;
  // Takes the arguments from the words and leaves the results there; false: it gave up.
  bool (*code)(CompiledCalls *calls, int64_t *words) = nullptr;
  std::shared_ptr<void> memory; // of the code
};

} // namespace tokamak::runtime
#endif
