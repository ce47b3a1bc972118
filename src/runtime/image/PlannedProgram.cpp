#include "runtime/image/PlannedProgram.h"

#include "runtime/values/Expansion.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak::runtime {

void writeConditions(const PlanConditions &conditions, ByteWriter &writer) {
  writer.list(conditions.inputs, [&](const PlanConditions::Input &input) {
    writer.number(input.kind);
    writeScalar(input.bound, writer);
    writer.list(input.sizes, [&](const Size &size) { writer.text(size.text()); });
    writer.number<uint8_t>(input.sparseDensity.has_value());
    if (input.sparseDensity)
      for (double number :
           {input.sparseDensity->low, input.sparseDensity->high, input.sparseDensity->estimate})
        writer.number(number);
    writer.number<uint8_t>(input.isRepeated);
    writer.number<uint8_t>(input.cells.has_value());
    if (input.cells) {
      const CellFact &cells = input.cells->cells;
      writer.number(cells.low);
      writer.number(cells.high);
      writer.number<uint8_t>(cells.mayBeZero);
      writer.number<uint8_t>(input.cells->holds);
    }
  });
  writer.number(conditions.symbolCount);
  writer.list(conditions.exactValues, [&](int64_t value) { writer.number(value); });
  writer.number(conditions.narrowLimit);
  writer.number<uint8_t>(conditions.mayCoincide);
  writer.number(conditions.surroundingBytes);
}

namespace {

constexpr std::string_view signature = "tokamak program\n";

PlanConditions readConditions(ByteReader &reader) {
  PlanConditions conditions;
  conditions.inputs = reader.list<PlanConditions::Input>([&] {
    PlanConditions::Input input;
    input.kind = reader.choice(PlanConditions::Input::Kind::Array);
    input.bound = readScalar(reader);
    input.sizes = reader.list<Size>([&] {
      std::optional<Size> size = Size::parse(reader.text());
      if (!size)
        ByteReader::fail();
      return *size;
    });
    if (reader.boolean()) {
      auto low = reader.number<double>(), high = reader.number<double>();
      input.sparseDensity = {low, high, reader.number<double>()};
    }
    input.isRepeated = reader.boolean();
    if (reader.boolean()) {
      auto low = reader.number<double>(), high = reader.number<double>();
      bool mayBeZero = reader.boolean();
      input.cells = {CellFact(low, high, /*mayBeNan=*/false, mayBeZero), reader.boolean()};
    }
    return input;
  });
  conditions.symbolCount = reader.number<int64_t>();
  conditions.exactValues = reader.list<int64_t>([&] { return reader.number<int64_t>(); });
  conditions.narrowLimit = reader.number<int64_t>();
  conditions.mayCoincide = reader.boolean();
  conditions.surroundingBytes = reader.number<int64_t>();

  int64_t sizes = 0;
  for (const PlanConditions::Input &input : conditions.inputs) {
    if (input.kind == PlanConditions::Input::Kind::Integer && input.sizes.size() != 1)
      ByteReader::fail();
    for (const Size &size : input.sizes)
      if (!size.isConstant() && !(size.isSymbol() && size.symbolId() < conditions.symbolCount))
        ByteReader::fail();
    sizes += static_cast<int64_t>(input.sizes.size());
  }
  if (conditions.symbolCount < 0 || conditions.symbolCount > sizes)
    ByteReader::fail();
  return conditions;
}

PlannedBlock readBlock(ByteReader &reader, const CodeLookup &code) {
  PlannedBlock block;
  block.name = reader.text();
  block.operation = reader.text();
  block.plans = reader.list<BlockPlan>([&] {
    BlockPlan plan;
    plan.conditions = readConditions(reader);
    plan.image = std::make_shared<const Image>(readImage(reader, code));
    return plan;
  });
  return block;
}

// Checks that the blocks to which instructions refer exist, and that a plan has as many parameters
// as its conditions have inputs.
void checkBlocks(const Image &image, size_t count) {
  for (const ImageFunction &function : image.functions)
    for (const Instruction &instruction : function.instructions)
      if (instruction.opcode == Opcode::Block && static_cast<size_t>(instruction.index) >= count)
        ByteReader::fail();
}

void checkPlan(const BlockPlan &plan) {
  auto parameters = static_cast<size_t>(plan.image->functions.front().parameterCount);
  if (plan.conditions.inputs.size() != parameters)
    ByteReader::fail();
}

} // namespace

std::string PlannedProgram::bytes() const {
  ByteWriter writer;
  writeImage(image, writer);
  writer.list(blocks, [&](const PlannedBlock &block) {
    writer.text(block.name);
    writer.text(block.operation);
    writer.list(block.plans, [&](const BlockPlan &plan) {
      writeConditions(plan.conditions, writer);
      writeImage(*plan.image, writer);
    });
  });
  ByteWriter file;
  file.number(imageFormat());
  file.text(writer.bytes());
  file.number(checkSum(writer.bytes()));
  return std::string(signature) + file.bytes();
}

PlannedProgram PlannedProgram::from(std::string_view bytes, const CodeLookup &code) {
  if (!bytes.starts_with(signature))
    throw Error("not a compiled Tokamak program");
  ByteReader file(bytes.substr(signature.size()));
  if (file.number<uint64_t>() != imageFormat())
    throw Error("compiled by another version of Tokamak");
  std::string contents = file.text();
  if (file.number<uint64_t>() != checkSum(contents) || !file.isAtEnd())
    ByteReader::fail();

  ByteReader reader(contents);
  PlannedProgram program;
  program.image = readImage(reader, code);
  program.blocks = reader.list<PlannedBlock>([&] { return readBlock(reader, code); });
  if (!reader.isAtEnd())
    ByteReader::fail();
  checkBlocks(program.image, program.blocks.size());
  for (const PlannedBlock &block : program.blocks)
    for (const BlockPlan &plan : block.plans) {
      checkBlocks(*plan.image, program.blocks.size());
      checkPlan(plan);
    }
  return program;
}

std::shared_ptr<const Image> findPlan(const std::vector<BlockPlan> &plans,
                                      std::span<const Value> inputs) {
  for (const BlockPlan &plan : plans)
    if (plan.conditions.holdFor(inputs))
      return plan.image;
  return nullptr;
}

// What the compiler would say of the block, had it the sizes at compile time.
static Error withoutPlan(const PlannedBlock &block, std::span<const Value> inputs) {
  std::vector<std::string> shapes;
  for (const Value &input : inputs)
    if (input.isArray())
      shapes.push_back(input.array()->shape().text());
  if (!block.operation.empty() && shapes.size() == 2)
    return Error(
        fmt::format("sizes do not agree: {} {} {}; expected equal sizes, or one operand that is a "
                    "vector of matching length",
                    shapes[0], block.operation, shapes[1]));
  if (!block.operation.empty())
    return Error(
        fmt::format("{}: sizes do not agree: {}", block.operation, fmt::join(shapes, " and ")));
  std::string reason = block.plans.empty() ? "it was not reached when the program was compiled"
                                           : block.plans.back().conditions.mismatch(inputs);
  return Error(fmt::format("{} has no plan for these inputs: {}", block.name, reason));
}

//===- operands of one operation -------------------------------------------------------------===//

// The size of what an operation on cells computes of them; nothing if their sizes don't agree.
static std::optional<Shape> commonShape(std::span<const Value> inputs) {
  std::vector<int64_t> sizes; // the last dimension first
  for (const Value &input : inputs) {
    if (!input.isArray())
      continue;
    const Shape &shape = input.array()->shape();
    sizes.resize(std::max(sizes.size(), static_cast<size_t>(shape.rank())), 1);
    for (int place = 0; place < shape.rank(); ++place) {
      int64_t size = shape[shape.rank() - 1 - place];
      if (sizes[place] == 1)
        sizes[place] = size;
      else if (size != 1 && size != sizes[place])
        return std::nullopt;
    }
  }
  std::reverse(sizes.begin(), sizes.end());
  return Shape(sizes);
}

// Repeats the cells of dense arrays along dimensions of one cell; false if the sizes don't agree.
static bool expand(std::vector<Value> &inputs) {
  std::optional<Shape> common = commonShape(inputs);
  if (common)
    for (Value &input : inputs)
      if (input.isArray())
        input = expanded(input.array(), Shape(common->sizes().last(input.array()->shape().rank())));
  return common.has_value();
}

std::shared_ptr<const Image> PlanTable::planFor(int32_t number, std::span<Value> inputs,
                                                const BlockPlace &) {
  const PlannedBlock &block = program_.blocks[number];
  auto takesAsMany = [&](const BlockPlan &plan) {
    return plan.conditions.inputs.size() == inputs.size();
  };
  if (!std::all_of(block.plans.begin(), block.plans.end(), takesAsMany))
    ByteReader::fail();
  if (auto image = findPlan(block.plans, inputs))
    return image;
  std::vector<Value> dense(inputs.begin(), inputs.end());
  for (Value &input : dense)
    if (input.isArray())
      input = Array::asDense(input.array());
  auto image = findPlan(block.plans, dense);
  // An operation whose operands agree in very many ways has a plan for equal sizes only.
  if (!image && !block.operation.empty() && expand(dense))
    image = findPlan(block.plans, dense);
  if (!image)
    throw withoutPlan(block, inputs);
  std::move(dense.begin(), dense.end(), inputs.begin());
  return image;
}

} // namespace tokamak::runtime
