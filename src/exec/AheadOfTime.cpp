#include "exec/AheadOfTime.h"

#include "runtime/io/FileWriter.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;

codegen::KernelCompilerOptions::Sink ObjectKeeper::sink() {
  return [this](const std::string &kernel, const std::string &object) {
    std::lock_guard lock(mutex_);
    objects_[kernel] = object;
  };
}

const std::string &ObjectKeeper::object(const std::string &kernel) const {
  static const std::string none;
  std::lock_guard lock(mutex_);
  auto found = objects_.find(kernel);
  return found == objects_.end() ? none : found->second;
}

static void writeFile(const std::string &path, std::string_view contents) {
  runtime::FileWriter file(path);
  file.write(contents);
  file.commit();
}

// The names of all kernels; true for those whose partial results merge.
static std::map<std::string, bool> kernelsOf(const runtime::PlannedProgram &program) {
  std::map<std::string, bool> kernels;
  for (const runtime::PlannedBlock &block : program.blocks)
    for (const runtime::BlockPlan &plan : block.plans)
      for (const runtime::KernelPlan &kernel : plan.image->kernels)
        kernels[kernel.name] = kernel.merge != nullptr;
  return kernels;
}

// C does not allow an empty array, so the table ends with an empty entry.
static std::string kernelTable(const std::map<std::string, bool> &kernels) {
  std::string declarations, entries;
  for (const auto &[name, merges] : kernels) {
    declarations +=
        fmt::format("int32_t {}(const TokArguments *, const TokTile *, TokWorkspace *);\n", name);
    if (merges)
      declarations +=
          fmt::format("void {}_merge(const TokArguments *, double *, const double *);\n", name);
    entries += fmt::format("    {{\"{0}\", {0}, {1}}},\n", name, merges ? name + "_merge" : "0");
  }
  return fmt::format("#include \"abi/KernelTable.h\"\n\n{}\n"
                     "const TokKernelEntry tokKernels[] = {{\n{}    {{0, 0, 0}}}};\n"
                     "const uint64_t tokKernelCount = {};\n",
                     declarations, entries, kernels.size());
}

void exec::writeAheadOfTime(const std::string &folder, const runtime::PlannedProgram &program,
                            const ObjectKeeper &objects) {
  std::map<std::string, bool> kernels = kernelsOf(program);
  for (const auto &[name, merges] : kernels) {
    const std::string &object = objects.object(name);
    if (object.empty())
      internalError("no object file of kernel " + name);
    writeFile(folder + "/" + name + ".o", object);
  }
  writeFile(folder + "/kernels.c", kernelTable(kernels));
  program.write(folder + "/program.image");
}
