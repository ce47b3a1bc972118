#include "runtime/image/ImageFile.h"

#include "runtime/image/ImageTesting.h"
#include "runtime/image/PlannedProgram.h"

#include <filesystem>
#include <fstream>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;
using tokamak::abi::cellsOfInput, tokamak::abi::columnsOfInput, tokamak::abi::rowsOfInput,
    tokamak::abi::sizeOfInput;

namespace {

KernelCode noKernels(const std::string &) { return {}; }
const CodeLookup onlyNatives = {noKernels, findNative};

int32_t emptyKernel(const TokArguments *, const TokTile *, TokWorkspace *) { return 0; }

// An image with a parallel loop, a call, scalars of every type, and places.
Image sampleImage() {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 5)
      .constant(integer(1), 0)
      .constant(integer(100), 1)
      .constant(0.5, 2)
      .add(Opcode::ParallelLoop, 0, {0, 1, 0, 2}, {3})
      .native("print", {3}, {})
      .constant("text", 3)
      .constant(true, 4)
      .constant(Undefined{"x"}, 2)
      .constant(Value(), 2)
      .native("print", {3}, {})
      .finish();
  FunctionBuilder(image, "main.iteration", 2, 1, 3)
      .add(Opcode::Call, 2, {0}, {2})
      .binary(BinaryOperator::Add, 1, 2, 1)
      .finish({1});
  FunctionBuilder(image, "square", 1, 1, 2).binary(BinaryOperator::Mul, 0, 0, 1).finish({1});
  image.loops.push_back({1, 3, true, {Merge::Sum}, {-1}});
  image.callers.resize(image.places.size());
  image.callers[1] = {{"caller.dml", 3, 4}};
  return image;
}

KernelPlan sampleKernel() {
  KernelPlan plan;
  plan.name = "cell_add_1";
  plan.extents[0] = cellsOfInput(0);
  plan.extents[1] = Size::constant(1);
  plan.inputs = {{ElementType::F32, TOK_CSR}, {ElementType::F64, TOK_CSR, /*united=*/true}};
  plan.driver = 0;
  plan.outputs.resize(1);
  plan.outputs[0].elementType = ElementType::F32;
  plan.outputs[0].sizes = {sizeOfInput(0, 2), rowsOfInput(0), columnsOfInput(0)};
  plan.scratchSizes = {rowsOfInput(0)};
  plan.sizes = {columnsOfInput(1) - 1, -1 * columnsOfInput(1) - 1};
  plan.tileBytesPerStep = 24;
  plan.rowsPerCopy = 256;
  plan.prediction = {1.5, 1, 2};
  return plan;
}

std::string bytesOf(const Image &image) {
  ByteWriter writer;
  writeImage(image, writer);
  return writer.bytes();
}

Image imageOf(std::string_view bytes, const KernelLookup &kernels = noKernels) {
  ByteReader reader(bytes);
  return readImage(reader, {kernels, findNative});
}

std::string printed(const Image &image) {
  std::ostringstream out;
  print(image, out);
  return out.str();
}

// A program whose main prints the result of block 0, which has a plan for
// matrices of 1000 to 2000 rows with the same number in every cell.
PlannedProgram sampleProgram() {
  PlannedProgram program;
  program.image = newImage();
  FunctionBuilder(program.image, "main", 0, 0, 3)
      .constant(1.0, 0)
      .constant(integer(1500), 1)
      .native("fill", {0, 1, 1}, {2})
      .add(Opcode::Block, 0, {2}, {2})
      .native("print", {2}, {})
      .finish();
  Image plan = newImage();
  FunctionBuilder(plan, "block_0", 1, 1, 2).add(Opcode::Rows, 0, {0}, {1}).finish({1});
  BlockPlan blockPlan;
  blockPlan.conditions.symbolCount = 1;
  Size n = Size::symbol(0, -1, {1000, 2000});
  blockPlan.conditions.narrowLimit = 32;
  blockPlan.conditions.inputs = {{PlanConditions::Input::Kind::Array, {}, {n, n}, {}}};
  blockPlan.conditions.inputs[0].isRepeated = true;
  blockPlan.image = std::make_shared<const Image>(std::move(plan));
  program.blocks.push_back({"block_0", {blockPlan}});
  return program;
}

} // namespace

TEST(ImageFile, keepsArraysThatAreWrittenOut) {
  Image image = newImage();
  ArrayPointer cells = Array::create({1, 1, 2}, ElementType::F32);
  cells->mutableFloats()[0] = 0.5f;
  cells->mutableFloats()[1] = 3;
  FunctionBuilder(image, "main", 0, 0, 1).constant(cells, 0).native("print", {0}, {}).finish();
  EXPECT_EQ(runImage(imageOf(bytesOf(image))).output, "[1,,]\n0.500 3.000\n\n");
}

TEST(ImageFile, keepsImages) {
  Image image = sampleImage(), copy = imageOf(bytesOf(image));
  EXPECT_EQ(printed(copy), printed(image));
  EXPECT_EQ(bytesOf(copy), bytesOf(image));
  EXPECT_EQ(copy.callers[1][0].file, "caller.dml");
  EXPECT_EQ(runImage(copy, nullptr, 2).output, runImage(image).output);
  EXPECT_EQ(runImage(copy).output, "338350.5\ntext\n");
}

TEST(ImageFile, keepsKernelPlansAndFindsTheirCode) {
  Image image = sampleImage();
  image.kernels.push_back(sampleKernel());
  std::string bytes = bytesOf(image);
  Image copy = imageOf(bytes, [](const std::string &name) {
    EXPECT_EQ(name, "cell_add_1");
    return KernelCode{emptyKernel, nullptr};
  });
  EXPECT_EQ(bytesOf(copy), bytes);
  EXPECT_EQ(copy.kernels[0].kernel, emptyKernel);
  EXPECT_EQ(copy.kernels[0].inputs[0].layout, TOK_CSR);
  EXPECT_EQ(errorOf([&] { imageOf(bytes); }), "kernel cell_add_1 has no code in this program");
}

// Each damage would make the launch of a kernel access inputs that don't exist.
TEST(ImageFile, refusesKernelPlansThatAreDamaged) {
  auto error = [](auto damage) {
    Image image = sampleImage();
    image.kernels.push_back(sampleKernel());
    damage(image.kernels[0]);
    return errorOf([&] {
      imageOf(bytesOf(image), [](const std::string &) { return KernelCode{emptyKernel, nullptr}; });
    });
  };
  EXPECT_EQ(error([](KernelPlan &) {}), "no error");
  EXPECT_EQ(error([](KernelPlan &plan) { plan.driver = 1; }), "no error");
  std::function<void(KernelPlan &)> damages[] = {
      [](KernelPlan &plan) { plan.driver = 2; },
      [](KernelPlan &plan) { plan.driver = -2; },
      [](KernelPlan &plan) { plan.driver = INT32_MAX; },
      [](KernelPlan &plan) { plan.inputs[0].layout = TOK_DENSE; }, // the driver must be sparse
      [](KernelPlan &plan) { plan.driver = -1; },                  // united inputs need a driver
      [](KernelPlan &plan) {
        plan.driver = -1;
        plan.inputs[1].united = false;
        plan.outputs[0].layout = TOK_CSR;
      },
      [](KernelPlan &plan) { plan.extents[0] = rowsOfInput(2); },
      [](KernelPlan &plan) { plan.extents[1] = Size::constant(-1); },
      [](KernelPlan &plan) { plan.outputs[0].sizes[0] = rowsOfInput(0) + cellsOfInput(2); },
      [](KernelPlan &plan) { plan.outputs[0].sizes[1] = Size::unknown(); },
      [](KernelPlan &plan) { plan.sizes[0] = sizeOfInput(2, 7); },
      [](KernelPlan &plan) { plan.scratchSizes[0] = columnsOfInput(2); },
      [](KernelPlan &plan) { plan.tileBytesPerStep = -1; },
      [](KernelPlan &plan) { plan.rowsPerCopy = 0; },
  };
  for (size_t i = 0; i < std::size(damages); ++i)
    EXPECT_EQ(error(damages[i]), "the file is damaged") << i;
}

// A launch writes as many results as the plan has outputs.
TEST(ImageFile, refusesKernelInstructionsWithOtherResults) {
  for (size_t outputs : {1, 2, 0}) {
    Image image = newImage();
    image.kernels.push_back(sampleKernel());
    image.kernels[0].outputs.resize(outputs);
    FunctionBuilder(image, "main", 0, 0, 2).add(Opcode::Kernel, 0, {0, 0}, {1}).finish();
    EXPECT_EQ(errorOf([&] {
                imageOf(bytesOf(image),
                        [](const std::string &) { return KernelCode{emptyKernel, nullptr}; });
              }),
              outputs == 1 ? "no error" : "the file is damaged");
  }
}

TEST(ImageFile, refusesOperandsThatAreReadAfterTheyWereConsumed) {
  for (uint64_t lastUse : {0, 1, 2, 3}) {
    Image image = newImage();
    FunctionBuilder(image, "main", 0, 0, 2)
        .constant(integer(3), 0)
        .native("cbind", {0, 0}, {1}, lastUse)
        .finish();
    EXPECT_EQ(errorOf([&] { imageOf(bytesOf(image)); }),
              (lastUse & 1) == 0 ? "no error" : "the file is damaged");
  }
}

// A program whose operators have other numbers reads the names that an older one wrote. The names of
// this file are exchanged: what it computes follows the names, wherever their operators stand.
TEST(ImageFile, hasOperatorsByName) {
  Image image = newImage();
  FunctionBuilder(image, "main", 0, 0, 4)
      .constant(integer(7), 0)
      .constant(integer(2), 1)
      .binary(BinaryOperator::Sub, 0, 1, 2)
      .binary(BinaryOperator::Mul, 2, 1, 3)
      .native("print", {3}, {})
      .finish();
  std::string bytes = bytesOf(image);
  EXPECT_EQ(runImage(imageOf(bytes)).output, "10\n");
  size_t sub = bytes.find("sub"), mul = bytes.find("mul");
  ASSERT_LT(sub, mul);
  EXPECT_EQ(bytes.find("sub", sub + 1), std::string::npos) << "an operator is named once";
  std::string exchanged = bytes;
  exchanged.replace(sub, 3, "mul").replace(mul, 3, "sub");
  EXPECT_EQ(runImage(imageOf(exchanged)).output, "12\n");
  exchanged.replace(sub, 3, "mug");
  EXPECT_EQ(errorOf([&] { imageOf(exchanged); }), "this program has no operator mug");
}

TEST(ImageFile, checksTheOperandsOfNatives) {
  for (size_t operands : {0, 1, 2}) {
    Image image = newImage();
    FunctionBuilder(image, "main", 0, 0, 2)
        .constant(integer(3), 0)
        .native("rev", std::vector<Slot>(operands), {1})
        .finish();
    EXPECT_EQ(errorOf([&] { imageOf(bytesOf(image)); }),
              operands == 1 ? "no error" : "the file is damaged");
  }
}

TEST(ImageFile, refusesImagesThatAreCutOff) {
  std::string bytes = bytesOf(sampleImage());
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(errorOf([&] { imageOf(std::string_view(bytes).substr(0, length)); }),
              "the file is damaged");
}

TEST(ImageFile, checksEveryIndex) {
  // Whichever byte is changed, the image is rejected, or all its indices are in range.
  std::string bytes = bytesOf(sampleImage());
  int refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int change : {1, 0x40, 0x80}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      try {
        printed(imageOf(damaged)); // printing follows all indices
      } catch (const Error &) {
        ++refused;
      }
    }
  EXPECT_GT(refused, static_cast<int>(bytes.size()));
}

TEST(PlannedProgram, runsFromItsBytes) {
  PlannedProgram program = PlannedProgram::from(sampleProgram().bytes(), onlyNatives);
  PlanTable plans(program);
  EXPECT_EQ(runImage(program.image, &plans).output, "1500\n");
}

TEST(PlannedProgram, hasNoPlanForOtherSizes) {
  PlannedProgram program = sampleProgram();
  program.image.constants[1] = integer(2001);
  PlanTable plans(program);
  EXPECT_EQ(errorOf([&] { runImage(program.image, &plans); }),
            "block_0 has no plan for these inputs: input 1 has size 2001x2001");
  program.blocks[0].plans.clear();
  EXPECT_EQ(
      errorOf([&] { runImage(program.image, &plans); }),
      "block_0 has no plan for these inputs: it was not reached when the program was compiled");
}

TEST(PlannedProgram, refusesDamage) {
  std::string bytes = sampleProgram().bytes();
  auto error = [](const std::string &bytes) {
    return errorOf([&] { PlannedProgram::from(bytes, onlyNatives); });
  };
  EXPECT_EQ(error(bytes), "no error");
  EXPECT_EQ(error("something else"), "not a compiled Tokamak program");
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_NE(error(damaged), "no error") << i;
    EXPECT_NE(error(bytes.substr(0, i)), "no error") << i;
  }
  EXPECT_EQ(error(bytes + "x"), "the file is damaged");
  std::string newer = bytes;
  newer[16] = static_cast<char>(newer[16] + 1);
  EXPECT_EQ(error(newer), "compiled by another version of Tokamak");
}

TEST(PlannedProgram, makesOperandsOfOneOperationEquallyLarge) {
  PlannedProgram program;
  program.image = newImage();
  runtime::PlannedBlock block{"block_0", {}, "+"};
  PlanConditions conditions;
  conditions.inputs.resize(2);
  // The second operand has a dimension less.
  for (int operand = 0; operand < 2; ++operand) {
    conditions.inputs[operand].kind = PlanConditions::Input::Kind::Array;
    for (int place = 2 - operand; place >= 0; --place)
      conditions.inputs[operand].sizes.push_back(Size::symbol(place));
  }
  conditions.symbolCount = 3;
  conditions.narrowLimit = -1;
  conditions.mayCoincide = true;
  block.plans.push_back({conditions, std::make_shared<const Image>()});
  program.blocks.push_back(block);
  PlanTable plans(program);
  const ImageFunction function;
  const Instruction instruction{Opcode::Block};
  const BlockPlace place{function, instruction, nullptr};

  ArrayPointer first = Array::create({2, 1, 3}, ElementType::I16);
  for (int16_t i = 0; i < 6; ++i)
    first->mutableCellsAs<int16_t>()[i] = i;
  Value inputs[] = {first, Array::filled({2, 1}, 7)};
  EXPECT_NE(plans.planFor(0, inputs, place), nullptr);
  EXPECT_EQ(inputs[0].array()->shape().text(), "2x2x3");
  EXPECT_EQ(inputs[1].array()->shape().text(), "2x3");
  const auto *cells = inputs[0].array()->cellsAs<int16_t>();
  EXPECT_EQ(std::vector<int16_t>(cells, cells + 12),
            (std::vector<int16_t>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(inputs[1].array()->data()[5], 7);

  Value wrong[] = {first, Array::filled({2, 2}, 7)};
  EXPECT_THROW(plans.planFor(0, wrong, place), Error);
}
