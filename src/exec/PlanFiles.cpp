#include "exec/PlanFiles.h"

#include "cost/ModelFile.h"
#include "runtime/image/PlannedProgram.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using pipeline::FrozenBlock;
using pipeline::FrozenBlocks;
using pipeline::Specialization;
using runtime::ByteReader;
using runtime::ByteWriter;
using runtime::Image;

static constexpr std::string_view kind = "plan";

//===- keys ----------------------------------------------------------------------------------===//

static std::string textOf(const pipeline::SessionOptions &options) {
  std::vector<std::string> disabled;
  for (const auto &entry : options.disabled)
    disabled.push_back(entry.getKey().str());
  std::sort(disabled.begin(), disabled.end());
  return fmt::format("selector {} zeros {} disabled {}\n", static_cast<int>(options.selector),
                     static_cast<int>(options.zeroRule), fmt::join(disabled, " "));
}

PlanFiles::PlanFiles(CompiledFiles &files, codegen::KernelCompiler &kernels,
                     const pipeline::SessionOptions &options)
    : files_(files), kernels_(kernels), options_(options), optionsText_(textOf(options)) {}

std::string PlanFiles::keyOf(const FrozenBlock &block, const runtime::PlanConditions &conditions,
                             pipeline::UnknownSizes unknownSizes, pipeline::Tier tier) {
  ByteWriter writer;
  writer.number(unknownSizes);
  writer.number(tier);
  runtime::writeConditions(conditions, writer);
  writer.text(block.bytecode);
  if (tier == pipeline::Tier::BuiltIn)
    return optionsText_ + writer.bytes();
  const cost::MachineModel &machine =
      options_.machine(); // may throw, which std::call_once doesn't pass on everywhere
  std::call_once(machineAsked_, [&] { machineText_ = cost::toJson(machine) + "\n"; });
  return optionsText_ + machineText_ + writer.bytes();
}

//===- records -------------------------------------------------------------------------------===//

// Replaces the numbers of blocks that the image executes.
template <typename NumberOf> static void renumberBlocks(Image &image, const NumberOf &numberOf) {
  for (runtime::ImageFunction &function : image.functions)
    for (runtime::Instruction &instruction : function.instructions)
      if (instruction.opcode == runtime::Opcode::Block)
        instruction.index = numberOf(instruction.index);
}

static void writeCellFact(const CellFact &cells, ByteWriter &writer) {
  writer.number(cells.low);
  writer.number(cells.high);
  writer.number<uint8_t>(cells.mayBeNan);
  writer.number<uint8_t>(cells.mayBeZero);
}

static CellFact readCellFact(ByteReader &reader) {
  auto low = reader.number<double>(), high = reader.number<double>();
  bool mayBeNan = reader.boolean();
  return {low, high, mayBeNan, reader.boolean()};
}

void PlanFiles::keep(std::string_view key, const Specialization &result,
                     const FrozenBlocks &blocks) {
  ByteWriter writer;
  writer.list(std::vector(result.wantedCells.begin(), result.wantedCells.end()),
              [&](const auto &wanted) {
                writer.number(wanted.first);
                writeCellFact(wanted.second, writer);
              });
  writer.list(result.zeroRuleUses,
              [&](const SourcePlace &place) { runtime::writePlace(place, writer); });
  writer.number<uint8_t>(result.compiledPays);
  writer.number<uint8_t>(result.builtIn.has_value());
  if (result.builtIn) {
    writer.number(result.builtIn->ofOneExecution);
    writer.number(result.builtIn->ofCompiling);
  }
  writer.number<uint8_t>(result.image != nullptr);
  if (result.image) {
    writer.list(result.newBlocks, [&](int32_t number) { blocks[number].write(writer); });
    Image image = *result.image;
    // Within the record, by their order in it.
    renumberBlocks(image, [&](int32_t number) {
      return static_cast<int32_t>(llvm::find(result.newBlocks, number) - result.newBlocks.begin());
    });
    writer.list(image.kernels, [&](const runtime::KernelPlan &kernel) {
      writer.text(kernel.name);
      writer.text(result.kernelKeys.lookup(kernel.name));
    });
    runtime::writeImage(image, writer);
  }
  files_.keep(kind, key, writer.bytes());
}

// Fails with an Error if kernels are missing.
static Specialization readPlan(ByteReader &reader, codegen::KernelCompiler &kernels,
                               FrozenBlocks &blocks, int32_t number) {
  Specialization result;
  result.isLoaded = true;
  auto wanted = reader.list<std::pair<unsigned, CellFact>>([&] {
    auto input = reader.number<unsigned>();
    return std::pair(input, readCellFact(reader));
  });
  result.wantedCells.insert(wanted.begin(), wanted.end());
  result.zeroRuleUses = reader.list<SourcePlace>([&] { return runtime::readPlace(reader); });
  result.compiledPays = reader.boolean();
  if (reader.boolean()) {
    auto ofOneExecution = reader.number<double>();
    result.builtIn = {ofOneExecution, reader.number<double>()};
  }
  if (!reader.boolean())
    return result;

  auto newBlocks = reader.list<FrozenBlock>([&] { return FrozenBlock::read(reader); });
  std::vector<std::string> names, keys;
  reader.list<bool>([&] {
    names.push_back(reader.text());
    keys.push_back(reader.text());
    return true;
  });
  std::vector<runtime::KernelPlan> kernelPlans = kernels.find(keys);
  if (kernelPlans.size() < keys.size())
    throw Error("a kernel is missing");
  llvm::StringMap<runtime::KernelPlan> known;
  for (auto [name, key, kernel] : llvm::zip(names, keys, kernelPlans)) {
    result.kernelKeys[kernel.name] = key;
    known[name] = std::move(kernel);
  }
  auto codeOf = [&](const std::string &name) {
    const runtime::KernelPlan kernel = known.lookup(name);
    return runtime::KernelCode{kernel.kernel, kernel.merge, kernel.code};
  };
  Image image = runtime::readImage(reader, {codeOf, runtime::findNative});
  for (runtime::KernelPlan &kernel : image.kernels)
    kernel.name = known.lookup(kernel.name).name;
  image.functions.front().name = blocks[number].name;

  for (FrozenBlock &block : newBlocks) {
    block.name = blocks.newName(blocks[number].name);
    result.newBlocks.push_back(blocks.add(std::move(block)));
  }
  renumberBlocks(image, [&](int32_t inRecord) {
    if (static_cast<size_t>(inRecord) >= result.newBlocks.size())
      ByteReader::fail();
    return result.newBlocks[inRecord];
  });
  result.image = std::make_shared<const Image>(std::move(image));
  return result;
}

std::optional<Specialization> PlanFiles::find(std::string_view key, FrozenBlocks &blocks,
                                              int32_t number) {
  std::optional<std::string> bytes = files_.find(kind, key);
  if (!bytes)
    return {};
  try {
    ByteReader reader(*bytes);
    return readPlan(reader, kernels_, blocks, number);
  } catch (const Error &) {
    return {};
  }
}
