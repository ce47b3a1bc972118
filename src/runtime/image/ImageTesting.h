// For tests that run images: builds functions by hand, one instruction per call.
//
//   Image image = newImage();
//   FunctionBuilder(image, "main", 0, 0, 1)
//       .constant(integer(3), 0)
//       .native("print", {0}, {})
//       .finish();
//   EXPECT_EQ(runImage(image).output, "3\n");
#ifndef TOKAMAK_RUNTIME_IMAGE_IMAGETESTING_H
#define TOKAMAK_RUNTIME_IMAGE_IMAGETESTING_H

#include "runtime/image/Executor.h"
#include "runtime/natives/NativeTesting.h"

namespace tokamak::runtime::testing {

class FunctionBuilder {
public:
  FunctionBuilder(Image &image, std::string name, int32_t parameters, int32_t results,
                  int32_t slots)
      : image_(image) {
    function_.name = std::move(name);
    function_.parameterCount = parameters;
    function_.resultCount = results;
    function_.slotCount = slots;
  }

  FunctionBuilder &add(Opcode opcode, int32_t index, std::vector<Slot> operands,
                       std::vector<Slot> results, int32_t target = 0, uint64_t lastUse = 0) {
    Instruction instruction{opcode, index, target};
    instruction.operandBegin = static_cast<int32_t>(function_.slots.size());
    instruction.operandCount = static_cast<int32_t>(operands.size());
    function_.slots.insert(function_.slots.end(), operands.begin(), operands.end());
    instruction.resultBegin = static_cast<int32_t>(function_.slots.size());
    instruction.resultCount = static_cast<int32_t>(results.size());
    function_.slots.insert(function_.slots.end(), results.begin(), results.end());
    instruction.place = static_cast<int32_t>(image_.places.size());
    instruction.lastUse = lastUse;
    image_.places.push_back({"test.dml", static_cast<int>(function_.instructions.size()) + 1, 1});
    function_.instructions.push_back(instruction);
    return *this;
  }
  FunctionBuilder &constant(Value value, Slot result) {
    image_.constants.push_back(std::move(value));
    return add(Opcode::Constant, static_cast<int32_t>(image_.constants.size()) - 1, {}, {result});
  }
  FunctionBuilder &binary(BinaryOperator op, Slot lhs, Slot rhs, Slot result) {
    return add(Opcode::Binary, static_cast<int32_t>(op), {lhs, rhs}, {result});
  }
  FunctionBuilder &native(std::string_view name, std::vector<Slot> operands,
                          std::vector<Slot> results, uint64_t lastUse = 0) {
    image_.natives.push_back(findNative(name));
    return add(Opcode::Native, static_cast<int32_t>(image_.natives.size()) - 1, std::move(operands),
               std::move(results), 0, lastUse);
  }
  void finish(std::vector<Slot> results = {}) {
    add(Opcode::Return, 0, std::move(results), {});
    image_.functions.push_back(std::move(function_));
  }

private:
  Image &image_;
  ImageFunction function_;
};

struct Outcome {
  std::string output;
  int64_t arrays = 0;
};

inline Outcome runImage(const Image &image, BlockProvider *provider = nullptr, int threads = 1) {
  std::ostringstream output;
  Scheduler scheduler(threads);
  ExecutionContext context;
  context.output = &output;
  context.scheduler = &scheduler;
  context.seed = 7;
  Executor executor(image, provider, context);
  executor.run();
  return {output.str(), executor.materializedArrays()};
}

inline Image newImage() {
  Image image;
  image.places.emplace_back();
  return image;
}

} // namespace tokamak::runtime::testing
#endif
