#include "codegen/target/Target.h"

#include "codegen/LlvmLowering.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// Bits of what AVX2 and AVX-512 bring (abi/ProcessorFeatures.h).
TEST(TargetTest, CodeNeedsFeatures) {
  constexpr uint64_t avx2 = 1 << 3, avx512f = 1 << 10;
  EXPECT_EQ(featuresNeeded(x86Target()) & (avx2 | avx512f), avx2);
  EXPECT_EQ(featuresNeeded(wideX86Target()) & (avx2 | avx512f), avx2 | avx512f);
  constexpr uint64_t lse = 1 << 3, dotProduct = 1 << 11, sve = 1 << 12;
  EXPECT_EQ(featuresNeeded(aarch64Target()), 0U);
  EXPECT_EQ(featuresNeeded(laterAArch64Target()) & (lse | dotProduct | sve), lse | dotProduct);
  codegen::Target graviton = aarch64Target();
  graviton.cpu = "neoverse-v1";
  EXPECT_EQ(featuresNeeded(graviton) & (lse | dotProduct | sve), lse | dotProduct | sve);
}

TEST(TargetTest, EveryTargetHasAMachineOfItsCpu) {
  for (const codegen::Target *target : {&x86Target(), &aarch64Target(), &hostTarget()}) {
    auto machine = createTargetMachine(*target);
    ASSERT_TRUE(static_cast<bool>(machine)) << llvm::toString(machine.takeError());
    EXPECT_EQ((*machine)->getTargetTriple().str(), target->triple);
    EXPECT_EQ((*machine)->getTargetCPU(), target->cpu);
    EXPECT_TRUE((*machine)->isPositionIndependent());
    EXPECT_FALSE((*machine)->createDataLayout().isBigEndian());
  }
  EXPECT_TRUE(hostTarget().triple.starts_with("x86_64") ||
              hostTarget().triple.starts_with("aarch64"));
}

// The host states few features, but has all that the CPU reports.
TEST(TargetTest, TheHostHasTheFeaturesOfItsCpu) {
  codegen::Target complete = hostTarget();
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.first(), feature.second);
  complete.features = features.getString();
  auto bits = [](const codegen::Target &target) {
    return llvm::cantFail(createTargetMachine(target))->getMCSubtargetInfo()->getFeatureBits();
  };
  EXPECT_TRUE(bits(hostTarget()) == bits(complete)) << hostTarget().features;
}

TEST(TargetTest, ATripleThatLlvmDoesNotKnowIsAnError) {
  codegen::Target target = x86Target();
  target.triple = "pdp11-unknown-unknown";
  auto machine = createTargetMachine(target);
  ASSERT_FALSE(static_cast<bool>(machine));
  EXPECT_NE(llvm::toString(machine.takeError()).find("pdp11"), std::string::npos);
}

// The same bitcode serves all targets, so that it may not ask for one of them, nor call what is not
// in it.
TEST(TargetTest, TheMathematicsOfKernelsNeedsNoTargetAndNoLibrary) {
  llvm::LLVMContext context;
  auto module = llvm::cantFail(llvm::parseBitcodeFile({vectorMathBitcode(), "math"}, context));
  for (const llvm::Function &function : *module) {
    if (!function.isDeclaration())
      continue;
    EXPECT_TRUE(function.isIntrinsic()) << function.getName().str();
    EXPECT_FALSE(function.isTargetIntrinsic()) << function.getName().str();
  }
}

} // namespace
