#include "codegen/target/Target.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace tokamak;
using namespace tokamak::codegen;

static const llvm::Target *findTarget(llvm::StringRef triple, std::string &problem) {
  return llvm::TargetRegistry::lookupTarget(triple.str(), problem);
}

// The features that the CPU of this name lacks, or that a virtual machine hides. Stating those that it
// has anyway, more than a hundred, would take a tenth of the time for compiling the first kernel.
static std::string featuresBeside(const Target &target, const llvm::StringMap<bool> &found) {
  std::string problem;
  std::unique_ptr<llvm::MCSubtargetInfo> cpu(
      findTarget(target.triple, problem)->createMCSubtargetInfo(target.triple, target.cpu, ""));
  llvm::SubtargetFeatures features;
  for (const llvm::SubtargetFeatureKV &feature : cpu->getAllProcessorFeatures()) {
    auto entry = found.find(feature.Key);
    if (entry != found.end() && entry->second != cpu->getFeatureBits()[feature.Value])
      features.AddFeature(feature.Key, entry->second);
  }
  return features.getString();
}

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
  llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  host.features = featuresBeside(host, found);
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
  const llvm::Target *found = findTarget(target.triple, problem);
  if (!found)
    return llvm::createStringError(problem);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}
