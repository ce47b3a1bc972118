#include "codegen/target/Target.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace tokamak;
using namespace tokamak::codegen;

static Target describeHost() {
#if defined(__x86_64__)
  Target host = x86Target();
#elif defined(__aarch64__)
  Target host = aarch64Target();
#else
#error "kernels are generated for x86-64 and AArch64 only"
#endif
  host.name = "host";
  host.triple = llvm::sys::getProcessTriple();
  host.cpu = llvm::sys::getHostCPUName().str();
  llvm::SubtargetFeatures features;
  llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  for (const auto &feature : found)
    features.AddFeature(feature.first(), feature.second);
  host.features = features.getString();
  if (found.lookup("avx512f")) {
    host.vectorRegisters = 32;
    host.vectorBits = 512;
  }
  return host;
}

const Target &codegen::hostTarget() {
  static const Target host = describeHost();
  return host;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
codegen::createTargetMachine(const Target &target) {
  std::string problem;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (!found)
    return llvm::createStringError(problem);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}
