// Compiles the kernels that are built into Tokamak (SingleOperators.h), for each target of this kind of
// machine, and writes them as C++ with two files for each target that it includes.
//
//   tokamak-built-in-kernels FOLDER
#include "built-in-kernels/SingleOperators.h"

#include "codegen/MachineCode.h"
#include "exec/BuiltInKernels.h"
#include "exec/ObjectKeeper.h"
#include "ir/plan/PlanDialect.h"
#include "pipeline/CompileSession.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Object/ELFObjectFile.h"

#include <fmt/format.h>
#include <fstream>
#include <future>
#include <iostream>

using namespace tokamak;

namespace {

using Kernels = std::map<std::string, codegen::StoredKernel>;

// The code and the constants of an object: what is in front of tables for linkers and debuggers.
size_t sizeOfCode(const llvm::object::ObjectFile &object) {
  size_t size = 0;
  for (const llvm::object::ELFSectionRef section : object.sections())
    if (section.getFlags() & llvm::ELF::SHF_ALLOC &&
        llvm::cantFail(section.getName()) != ".eh_frame")
      size = std::max<size_t>(size, section.getOffset() + section.getSize());
  return size;
}

codegen::StoredKernel storedKernel(const abi::KernelPlan &plan, const std::string &object) {
  llvm::MemoryBufferRef bytes(object, plan.name);
  auto code = llvm::cantFail(codegen::MachineCode::link(bytes));
  codegen::StoredKernel kernel{plan, code->image()};
  if (kernel.image.empty())
    internalError("the kernel " + plan.name + " refers to what is not part of it");
  kernel.image.resize(
      sizeOfCode(*llvm::cantFail(llvm::object::ObjectFile::createObjectFile(bytes))));
  kernel.kernel = code->offsetInImage(code->address(plan.name));
  if (void *merge = code->address(plan.name + "_merge"))
    kernel.merge = code->offsetInImage(merge);
  return kernel;
}

Kernels compile(const codegen::Target &target, pipeline::FrozenBlocks &blocks,
                const std::vector<OperatorBlock> &operators) {
  exec::ObjectKeeper objects;
  codegen::KernelCompilerOptions options;
  options.target = &target;
  options.cacheCapacity = SIZE_MAX;
  options.keepObject = objects.sink();
  codegen::KernelCompiler compiler(options);
  const cost::MachineModel machine;
  pipeline::SessionOptions sessionOptions;
  sessionOptions.selector = fusion::Selector::None;
  sessionOptions.machine = [&]() -> const cost::MachineModel & { return machine; };
  pipeline::CompileSession session(sessionOptions, compiler);
  Kernels kernels;
  auto specialize = [&](int32_t number, const runtime::PlanConditions &conditions) {
    pipeline::Specialization made = session.specialize(
        blocks, number, conditions, pipeline::UnknownSizes::Split, pipeline::Tier::Compiled);
    for (const abi::KernelPlan &plan :
         made.image ? made.image->kernels : std::vector<abi::KernelPlan>()) {
      auto [entry, isNew] = kernels.try_emplace(made.kernelKeys.lookup(plan.name));
      if (isNew) {
        entry->second = storedKernel(plan, objects.object(plan.name));
        entry->second.plan.prediction = {};
      }
    }
    return made.wantedCells;
  };
  for (auto [number, op] : llvm::enumerate(operators)) {
    // What the cells are may decide whether the operator keeps zeros.
    std::map<unsigned, CellFact> wanted = specialize(static_cast<int32_t>(number), op.conditions);
    for (bool holds : {true, false}) {
      runtime::PlanConditions conditions = op.conditions;
      for (const auto &[input, cells] : wanted)
        conditions.inputs[input].cells = {cells, holds};
      if (!wanted.empty())
        specialize(static_cast<int32_t>(number), conditions);
    }
  }
  return kernels;
}

void write(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush())
    throw Error("can't write '" + path + "'");
}

// C++ that includes the files of all targets.
class Source {
public:
  explicit Source(std::string folder) : folder_(std::move(folder)) {}

  void add(const codegen::Target &target, const exec::BuiltInFiles &files) {
    std::string path = folder_ + "/" + target.name;
    write(path + ".index", files.index);
    write(path + ".code", files.code);
    std::string label = fmt::format("tokamak_built_in_{}", targets_++);
    declarations_ += fmt::format("extern \"C\" const char {0}_index[], {0}_index_end[];\n"
                                 "extern \"C\" char {0}_code[];\n",
                                 label);
    sets_ +=
        fmt::format("      {{\"{}\", {{{}_index, static_cast<size_t>({}_index_end - {}_index)}}, "
                    "{}_code}},\n",
                    target.name, label, label, label, label);
    assembly_ += fmt::format("  .pushsection .rodata.tokamak_kernels,\"a\",@progbits\n"
                             "  .balign 8\n{0}_index:\n  .incbin \"{1}.index\"\n{0}_index_end:\n"
                             "  .popsection\n"
                             "  .pushsection .text.tokamak_kernels,\"ax\",@progbits\n"
                             "  .balign 4096\n{0}_code:\n  .incbin \"{1}.code\"\n",
                             label, path);
    // For debuggers and perf.
    for (const auto &[name, begin, size] : files.functions)
      assembly_ += fmt::format("  .set {0}_{1}, {0}_code + {2}\n  .type {0}_{1}, @function\n"
                               "  .size {0}_{1}, {3}\n",
                               label, name, begin, size);
    assembly_ += "  .popsection\n";
  }

  std::string text() const {
    return fmt::format("#include \"api/EmbeddedKernels.h\"\n\nasm(R\"(\n{})\");\n\n{}\n"
                       "const tokamak::exec::BuiltInKernels &tokamak::api::embeddedKernels() {{\n"
                       "  static const exec::BuiltInSet sets[] = {{\n{}  }};\n"
                       "  static const exec::BuiltInKernels kernels(sets);\n"
                       "  return kernels;\n}}\n",
                       assembly_, declarations_, sets_);
  }

private:
  std::string folder_, assembly_, declarations_, sets_;
  int targets_ = 0;
};

void run(const std::string &folder) {
  std::vector<OperatorBlock> operators = singleOperators();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
  pipeline::FrozenBlocks blocks;
  for (const OperatorBlock &block : operators) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(block.text, &context);
    if (!module)
      throw Error("a block is wrong:\n" + block.text, ErrorKind::Internal);
    blocks.add(*module->getOps<mlir::func::FuncOp>().begin());
  }
  std::vector<const codegen::Target *> targets = exec::BuiltInKernels::targets();
  std::vector<std::future<Kernels>> compiled;
  for (const codegen::Target *target : targets)
    compiled.push_back(std::async(std::launch::async,
                                  [&, target] { return compile(*target, blocks, operators); }));
  Source source(folder);
  for (auto [target, made] : llvm::zip(targets, compiled)) {
    // Code may address its constants by their distance in pages, except on x86.
    size_t alignment = llvm::StringRef(target->triple).starts_with("x86_64") ? 64 : 4096;
    Kernels kernels = made.get();
    exec::BuiltInFiles files = exec::writeBuiltIn(kernels, alignment);
    std::cout << fmt::format("{}: {} kernels, {} KB of code, {} KB of index\n", target->name,
                             kernels.size(), files.code.size() / 1024, files.index.size() / 1024);
    source.add(*target, files);
  }
  write(folder + "/EmbeddedKernels.cpp", source.text());
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::cerr << "usage: tokamak-built-in-kernels FOLDER\n";
    return 2;
  }
  try {
    run(arguments[1]);
    return 0;
  } catch (const Error &error) {
    std::cerr << "tokamak-built-in-kernels: " << error.what() << '\n';
    return 70;
  }
}
