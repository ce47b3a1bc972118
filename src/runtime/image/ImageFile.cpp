#include "runtime/image/ImageFile.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace tokamak::runtime {
namespace {

constexpr uint64_t formatVersion = 10;
static_assert(
    static_cast<int>(Opcode::Return) == 24,
    "files store instructions by number: raise formatVersion with every change of Opcode");

enum class ScalarTag : uint8_t { Nothing, Boolean, Integer, Double, Text, Undefined };

void require(bool holds) {
  if (!holds)
    ByteReader::fail();
}

template <typename Elements> bool isIndexOf(int32_t index, const Elements &elements) {
  return index >= 0 && static_cast<size_t>(index) < std::size(elements);
}

//===- kernels -------------------------------------------------------------------------------===//

void writeSize(const Size &size, ByteWriter &writer) { writer.text(size.text()); }

Size readSize(ByteReader &reader) {
  std::optional<Size> size = Size::parse(reader.text());
  require(size.has_value());
  return *size;
}

void writeSizes(const std::vector<Size> &sizes, ByteWriter &writer) {
  writer.list(sizes, [&](const Size &size) { writeSize(size, writer); });
}

std::vector<Size> readSizes(ByteReader &reader) {
  return reader.list<Size>([&] { return readSize(reader); });
}

} // namespace

static void writePrediction(const Prediction &prediction, ByteWriter &writer) {
  writer.number(prediction.nanoseconds);
  writer.number(prediction.inParallel);
  writer.number(prediction.threads);
  writer.number(prediction.atPeak);
  writer.number(prediction.limit);
  writer.number(prediction.bytes);
  if (prediction.bytes > 0)
    for (const Prediction::Time &time : prediction.ofOtherSizes) {
      writer.number(time.nanoseconds);
      writer.number(time.inParallel);
    }
}

static Prediction readPrediction(ByteReader &reader) {
  auto nanoseconds = reader.number<double>(), inParallel = reader.number<double>();
  auto threads = reader.number<double>(), atPeak = reader.number<double>();
  Prediction prediction{nanoseconds, inParallel, threads, atPeak, reader.choice(Limit::Computing)};
  prediction.bytes = reader.number<double>();
  if (prediction.bytes > 0)
    for (Prediction::Time &time : prediction.ofOtherSizes) {
      time.nanoseconds = reader.number<double>();
      time.inParallel = reader.number<double>();
    }
  return prediction;
}

void writeKernelPlan(const KernelPlan &plan, ByteWriter &writer) {
  writer.text(plan.name);
  writeSize(plan.extents[0], writer);
  writeSize(plan.extents[1], writer);
  writer.list(plan.inputs, [&](const abi::KernelInput &input) {
    writer.number(input.elementType);
    writer.number(input.layout);
    writer.number(input.united);
  });
  writer.list(plan.integerScalars, [&](bool isInteger) { writer.number(isInteger); });
  writer.number(plan.driver);
  writer.list(plan.outputs, [&](const KernelOutput &output) {
    writer.number(output.kind);
    writeSizes(output.sizes, writer);
    writer.number(output.elementType);
    writer.number(output.isInteger);
    writer.number(output.layout);
  });
  writer.number(plan.tileBytesPerStep);
  writer.number(plan.rowsPerCopy);
  writeSizes(plan.scratchSizes, writer);
  writeSizes(plan.sizes, writer);
  writePrediction(plan.prediction, writer);
}

namespace {

// Checks what the kernel launch relies on: sizes, layouts and the driver refer to existing inputs.
void checkKernel(const KernelPlan &plan) {
  auto checkNumber = [&](const Size &number) {
    require(!number.isUnknown() && number.everySymbol([&](int64_t symbol) {
      return static_cast<size_t>(symbol / abi::mostDimensions) < plan.inputs.size();
    }));
  };
  auto checkSize = [&](const Size &size) {
    checkNumber(size);
    require(size.range().high >= 0);
  };
  bool hasDriver = plan.driver != -1;
  require(!hasDriver ||
          (isIndexOf(plan.driver, plan.inputs) && plan.inputs[plan.driver].layout == TOK_CSR));
  for (const abi::KernelInput &input : plan.inputs)
    require((!input.united || (hasDriver && input.layout == TOK_CSR)) &&
            (input.layout != TOK_CSR || mayBeSparse(input.elementType)));
  for (const Size &extent : plan.extents)
    checkSize(extent);
  for (const KernelOutput &output : plan.outputs) {
    require(output.sizes.size() <= abi::mostDimensions);
    for (const Size &size : output.sizes)
      checkSize(size);
    require(output.layout != TOK_CSR || (hasDriver && mayBeSparse(output.elementType) &&
                                         output.kind == KernelOutput::Kind::Array));
  }
  for (const Size &size : plan.scratchSizes)
    checkSize(size);
  for (const Size &number : plan.sizes) // may be a distance, which may be negative
    checkNumber(number);
  require(plan.tileBytesPerStep >= 0);
  require(plan.rowsPerCopy >= 1);
}

} // namespace

KernelPlan readKernelPlan(ByteReader &reader) {
  KernelPlan plan;
  plan.name = reader.text();
  plan.extents[0] = readSize(reader);
  plan.extents[1] = readSize(reader);
  plan.inputs = reader.list<abi::KernelInput>([&] {
    abi::KernelInput input;
    input.elementType = reader.choice(ElementType::Bool);
    input.layout = reader.choice(TOK_CSR);
    input.united = reader.boolean();
    return input;
  });
  plan.integerScalars = reader.list<bool>([&] { return reader.boolean(); });
  plan.driver = reader.number<int32_t>();
  plan.outputs = reader.list<KernelOutput>([&] {
    KernelOutput output;
    output.kind = reader.choice(KernelOutput::Kind::PartialScalar);
    output.sizes = readSizes(reader);
    output.elementType = reader.choice(ElementType::Bool);
    output.isInteger = reader.boolean();
    output.layout = reader.choice(TOK_CSR);
    return output;
  });
  plan.tileBytesPerStep = reader.number<int64_t>();
  plan.rowsPerCopy = reader.number<int64_t>();
  plan.scratchSizes = readSizes(reader);
  plan.sizes = readSizes(reader);
  plan.prediction = readPrediction(reader);
  checkKernel(plan);
  return plan;
}

namespace {

KernelPlan readKernel(ByteReader &reader, const KernelLookup &kernels) {
  KernelPlan plan = readKernelPlan(reader);
  KernelCode code = kernels(plan.name);
  bool merges = false;
  for (const KernelOutput &output : plan.outputs)
    merges |= output.kind != KernelOutput::Kind::Array;
  if (!code.kernel || (merges && !code.merge))
    throw Error(fmt::format("kernel {} has no code in this program", plan.name));
  plan.kernel = code.kernel;
  plan.merge = code.merge;
  plan.code = std::move(code.code);
  return plan;
}

//===- cell operators ------------------------------------------------------------------------===//

// Files have cell operators by name, so that they mean the same in a program with other operators,
// or with the same in another order: an instruction's index is then a place in a list of names.
using OperatorNames = std::vector<std::string>;

// Empty for an instruction without a cell operator.
std::string_view operatorName(const Instruction &instruction) {
  if (instruction.opcode == Opcode::Unary)
    return mnemonic(static_cast<UnaryOperator>(instruction.index));
  if (instruction.opcode == Opcode::Binary)
    return mnemonic(static_cast<BinaryOperator>(instruction.index));
  return {};
}

OperatorNames operatorNames(const Image &image) {
  OperatorNames names;
  for (const ImageFunction &function : image.functions)
    for (const Instruction &instruction : function.instructions)
      if (std::string_view name = operatorName(instruction);
          !name.empty() && std::ranges::find(names, name) == names.end())
        names.emplace_back(name);
  return names;
}

int32_t indexInFile(const Instruction &instruction, const OperatorNames &names) {
  std::string_view name = operatorName(instruction);
  return name.empty() ? instruction.index
                      : static_cast<int32_t>(std::ranges::find(names, name) - names.begin());
}

int32_t indexInProgram(Opcode opcode, int32_t index, const OperatorNames &names) {
  if (opcode != Opcode::Unary && opcode != Opcode::Binary)
    return index;
  require(isIndexOf(index, names));
  auto numberOf = [&](auto found) {
    if (!found)
      throw Error(fmt::format("this program has no operator {}", names[index]));
    return static_cast<int32_t>(*found);
  };
  return opcode == Opcode::Unary ? numberOf(findUnaryOperator(names[index]))
                                 : numberOf(findBinaryOperator(names[index]));
}

//===- functions -----------------------------------------------------------------------------===//

void writeFunction(const ImageFunction &function, const OperatorNames &names, ByteWriter &writer) {
  writer.text(function.name);
  writer.number(function.parameterCount);
  writer.number(function.resultCount);
  writer.number(function.slotCount);
  writer.list(function.slots, [&](Slot slot) { writer.number(slot); });
  writer.list(function.instructions, [&](const Instruction &instruction) {
    writer.number(instruction.opcode);
    for (int32_t field : {indexInFile(instruction, names), instruction.target,
                          instruction.operandBegin, instruction.operandCount,
                          instruction.resultBegin, instruction.resultCount, instruction.place})
      writer.number(field);
    writer.number(instruction.lastUse);
    writer.number(instruction.elementType);
    writer.number(instruction.prediction);
  });
}

ImageFunction readFunction(const OperatorNames &names, ByteReader &reader) {
  ImageFunction function;
  function.name = reader.text();
  function.parameterCount = reader.number<int32_t>();
  function.resultCount = reader.number<int32_t>();
  function.slotCount = reader.number<int32_t>();
  function.slots = reader.list<Slot>([&] { return reader.number<Slot>(); });
  function.instructions = reader.list<Instruction>([&] {
    Instruction instruction{reader.choice(Opcode::Return)};
    for (int32_t *field : {&instruction.index, &instruction.target, &instruction.operandBegin,
                           &instruction.operandCount, &instruction.resultBegin,
                           &instruction.resultCount, &instruction.place})
      *field = reader.number<int32_t>();
    instruction.index = indexInProgram(instruction.opcode, instruction.index, names);
    instruction.lastUse = reader.number<uint64_t>();
    instruction.elementType = reader.choice(ElementType::Bool);
    instruction.prediction = reader.number<int32_t>();
    return instruction;
  });
  return function;
}

//===- checks --------------------------------------------------------------------------------===//

// The numbers of operands and results of an instruction.
struct Arity {
  int32_t operands, results;
};

// nullopt if any number is valid.
std::optional<Arity> arityOf(const Image &image, const ImageFunction &function,
                             const Instruction &instruction) {
  auto ofFunction = [&](const ImageFunction &callee) {
    return Arity{callee.parameterCount, callee.resultCount};
  };
  switch (instruction.opcode) {
  case Opcode::Constant:
    return Arity{0, 1};
  case Opcode::Move:
  case Opcode::Copy:
  case Opcode::Unary:
  case Opcode::Cast:
  case Opcode::Rows:
  case Opcode::Columns:
  case Opcode::Length:
  case Opcode::Size:
    return Arity{1, 1};
  case Opcode::Binary:
  case Opcode::Concat:
  case Opcode::LoopStep:
    return Arity{2, 1};
  case Opcode::IfElse:
    return Arity{3, 1};
  case Opcode::Jump:
    return Arity{0, 0};
  case Opcode::BranchIfNot:
    return Arity{1, 0};
  case Opcode::LoopTest:
    return Arity{3, 0};
  case Opcode::Return:
    return Arity{function.resultCount, 0};
  case Opcode::Call:
    return ofFunction(image.functions[instruction.index]);
  case Opcode::ParallelLoop: {
    // From, to and step replace the counter of the body.
    Arity body = ofFunction(image.functions[image.loops[instruction.index].body]);
    return Arity{body.operands + 2, body.results};
  }
  case Opcode::Kernel: // operands include scalars, so their number is not known here
    return Arity{instruction.operandCount,
                 static_cast<int32_t>(image.kernels[instruction.index].outputs.size())};
  case Opcode::Free:
  case Opcode::Native:
  case Opcode::ReadCell:
  case Opcode::WriteCell:
  case Opcode::Block:
    return std::nullopt;
  }
  return std::nullopt;
}

void checkNative(const Image &image, const Instruction &instruction) {
  require(isIndexOf(instruction.index, image.natives));
  require(
      instruction.prediction >= 0 &&
      (instruction.prediction == 0 || isIndexOf(instruction.prediction - 1, image.predictions)));
  const NativeSignature &signature = image.natives[instruction.index]->row.signature;
  require(signature.takes(instruction.operandCount) &&
          static_cast<size_t>(instruction.resultCount) == signature.results.size());
}

void checkIndex(const Image &image, const Instruction &instruction) {
  int32_t index = instruction.index;
  switch (instruction.opcode) {
  case Opcode::Constant:
    return require(isIndexOf(index, image.constants));
  case Opcode::Cast:
    return require(index >= 0 && index <= static_cast<int32_t>(CastTarget::Frame));
  case Opcode::Size:
    return require(index >= 0 && index < Shape::maxRank);
  case Opcode::Native:
    return checkNative(image, instruction);
  case Opcode::ReadCell:
    require(instruction.operandCount == 5);
    return checkNative(image, instruction);
  case Opcode::WriteCell:
    require(instruction.operandCount == 6);
    return checkNative(image, instruction);
  case Opcode::Kernel:
    return require(isIndexOf(index, image.kernels));
  case Opcode::Call:
    return require(isIndexOf(index, image.functions));
  case Opcode::ParallelLoop:
    return require(isIndexOf(index, image.loops));
  case Opcode::Block:
    return require(index >= 0);
  default:
    return;
  }
}

void checkSlots(const ImageFunction &function, int32_t begin, int32_t count) {
  require(begin >= 0 && count >= 0 &&
          static_cast<size_t>(begin) + static_cast<size_t>(count) <= function.slots.size());
}

// An operand that is consumed is not read again: no later operand of the instruction is its slot.
void checkLastUses(const ImageFunction &function, const Instruction &instruction) {
  std::span<const Slot> operands(function.slots.data() + instruction.operandBegin,
                                 instruction.operandCount);
  for (size_t i = 0; i < std::min<size_t>(operands.size(), 64); ++i)
    require((instruction.lastUse >> i & 1) == 0 ||
            std::ranges::find(operands.subspan(i + 1), operands[i]) == operands.end());
}

void checkFunction(const Image &image, const ImageFunction &function) {
  require(function.parameterCount >= 0 && function.resultCount >= 0 &&
          function.slotCount >= function.parameterCount && !function.instructions.empty());
  for (Slot slot : function.slots)
    require(slot >= 0 && slot < function.slotCount);
  for (const Instruction &instruction : function.instructions) {
    checkSlots(function, instruction.operandBegin, instruction.operandCount);
    checkSlots(function, instruction.resultBegin, instruction.resultCount);
    require(isIndexOf(instruction.place, image.places));
    checkIndex(image, instruction);
    checkLastUses(function, instruction);
    if (auto arity = arityOf(image, function, instruction))
      require(instruction.operandCount == arity->operands &&
              instruction.resultCount == arity->results);
    require(!mayJump(instruction.opcode) || isIndexOf(instruction.target, function.instructions));
  }
  // Execution must not run past the end.
  Opcode last = function.instructions.back().opcode;
  require(last == Opcode::Return || last == Opcode::Jump);
}

void checkLoop(const Image &image, const ParallelLoop &loop) {
  require(isIndexOf(loop.body, image.functions));
  const ImageFunction &body = image.functions[loop.body];
  require(body.parameterCount > body.resultCount);
  size_t carried = body.resultCount;
  require(loop.merges.size() <= carried &&
          (loop.outerValues.empty() || loop.outerValues.size() == carried));
}

} // namespace

//===- images --------------------------------------------------------------------------------===//

void writeScalar(const Value &value, ByteWriter &writer) {
  if (value.isNothing()) {
    writer.number(ScalarTag::Nothing);
  } else if (value.isBoolean()) {
    writer.number(ScalarTag::Boolean);
    writer.number<uint8_t>(value.asBoolean());
  } else if (value.isInteger()) {
    writer.number(ScalarTag::Integer);
    writer.number(value.asInteger());
  } else if (value.isDouble()) {
    writer.number(ScalarTag::Double);
    writer.number(value.asDouble());
  } else if (value.isString()) {
    writer.number(ScalarTag::Text);
    writer.text(value.text());
  } else if (value.isUndefined()) {
    writer.number(ScalarTag::Undefined);
    writer.text(value.undefined().variable);
  } else {
    internalError(fmt::format("{} can't be part of an image file", value.describe()));
  }
}

Value readScalar(ByteReader &reader) {
  switch (reader.choice(ScalarTag::Undefined)) {
  case ScalarTag::Nothing:
    return {};
  case ScalarTag::Boolean:
    return reader.boolean();
  case ScalarTag::Integer:
    return reader.number<int64_t>();
  case ScalarTag::Double:
    return reader.number<double>();
  case ScalarTag::Text:
    return reader.text();
  case ScalarTag::Undefined:
    return Undefined{reader.text()};
  }
  return {};
}

namespace {

// Numbers anew what jumps back to the heads of loops, so that damaged bytes give no number too large.
void numberLoops(Image &image) {
  int32_t loops = 0;
  for (ImageFunction &function : image.functions)
    for (Instruction &instruction : function.instructions)
      if (instruction.opcode == Opcode::Jump || instruction.opcode == Opcode::LoopStep)
        instruction.index = instruction.index == 0 ? 0 : ++loops;
}

} // namespace

void writePlace(const SourcePlace &place, ByteWriter &writer) {
  writer.text(place.file);
  writer.number(place.line);
  writer.number(place.column);
}

SourcePlace readPlace(ByteReader &reader) {
  SourcePlace place;
  place.file = reader.text();
  place.line = reader.number<int>();
  place.column = reader.number<int>();
  return place;
}

namespace {

// A dense array.
void writeArray(const Array &array, ByteWriter &writer) {
  writer.number(array.elementType());
  writer.number(static_cast<uint8_t>(array.shape().rank()));
  for (int64_t size : array.shape().sizes())
    writer.number(size);
  writer.text(
      {reinterpret_cast<const char *>(array.rawBytes()), static_cast<size_t>(array.bytes())});
}

Value readArray(ByteReader &reader) {
  auto type = reader.choice(ElementType::Bool);
  std::array<int64_t, Shape::maxRank> sizes{};
  auto rank = reader.choice<uint8_t>(Shape::maxRank);
  for (uint8_t i = 0; i < rank; ++i)
    sizes[i] = reader.number<int64_t>();
  std::string cells = reader.text();
  ArrayPointer array = Array::create(Shape(std::span<const int64_t>(sizes.data(), rank)), type);
  require(array->bytes() == static_cast<int64_t>(cells.size()));
  std::memcpy(array->mutableBytes(), cells.data(), cells.size());
  return array;
}

// A scalar, a string, or an array that is a constant of the program.
void writeConstant(const Value &value, ByteWriter &writer) {
  writer.number<uint8_t>(value.isArray());
  if (value.isArray())
    writeArray(*value.array(), writer);
  else
    writeScalar(value, writer);
}

Value readConstant(ByteReader &reader) {
  return reader.boolean() ? readArray(reader) : readScalar(reader);
}

} // namespace

void writeImage(const Image &image, ByteWriter &writer) {
  OperatorNames names = operatorNames(image);
  writer.list(names, [&](const std::string &name) { writer.text(name); });
  writer.list(image.functions, [&](const ImageFunction &f) { writeFunction(f, names, writer); });
  writer.list(image.loops, [&](const ParallelLoop &loop) {
    writer.number(loop.body);
    writer.number(loop.workers);
    writer.number<uint8_t>(loop.isIndependent);
    writer.list(loop.merges, [&](Merge merge) { writer.number(merge); });
    writer.list(loop.outerValues, [&](int32_t outer) { writer.number(outer); });
  });
  writer.list(image.constants, [&](const Value &constant) { writeConstant(constant, writer); });
  writer.list(image.natives, [&](const Native *native) { writer.text(native->row.name); });
  writer.list(image.kernels, [&](const KernelPlan &plan) { writeKernelPlan(plan, writer); });
  writer.list(image.predictions,
              [&](const Prediction &prediction) { writePrediction(prediction, writer); });
  auto writePlaces = [&](const std::vector<SourcePlace> &places) {
    writer.list(places, [&](const SourcePlace &place) { writePlace(place, writer); });
  };
  writePlaces(image.places);
  writer.list(image.callers, writePlaces);
}

Image readImage(ByteReader &reader, const CodeLookup &code) {
  Image image;
  auto names = reader.list<std::string>([&] { return reader.text(); });
  image.functions = reader.list<ImageFunction>([&] { return readFunction(names, reader); });
  numberLoops(image);
  image.loops = reader.list<ParallelLoop>([&] {
    ParallelLoop loop;
    loop.body = reader.number<int32_t>();
    loop.workers = reader.number<int32_t>();
    loop.isIndependent = reader.boolean();
    loop.merges = reader.list<Merge>([&] { return reader.choice(Merge::Sum); });
    loop.outerValues = reader.list<int32_t>([&] { return reader.number<int32_t>(); });
    return loop;
  });
  image.constants = reader.list<Value>([&] { return readConstant(reader); });
  image.natives = reader.list<const Native *>([&] {
    std::string name = reader.text();
    const Native *native = code.natives(name);
    if (!native)
      throw Error(fmt::format("this runtime has no native {}", name));
    return native;
  });
  image.kernels = reader.list<KernelPlan>([&] { return readKernel(reader, code.kernels); });
  image.predictions = reader.list<Prediction>([&] { return readPrediction(reader); });
  auto readPlaces = [&] { return reader.list<SourcePlace>([&] { return readPlace(reader); }); };
  image.places = readPlaces();
  image.callers = reader.list<std::vector<SourcePlace>>(readPlaces);
  require(!image.functions.empty() && image.callers.size() <= image.places.size());
  for (const ParallelLoop &loop : image.loops)
    checkLoop(image, loop);
  for (const ImageFunction &function : image.functions)
    checkFunction(image, function);
  return image;
}

uint64_t imageFormat() { return formatVersion << 32 | TOK_ABI_VERSION; }

} // namespace tokamak::runtime
