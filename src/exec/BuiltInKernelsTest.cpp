#include "exec/BuiltInKernels.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::exec;

namespace {

codegen::StoredKernel storedKernel(const std::string &name, const std::string &image) {
  codegen::StoredKernel kernel;
  kernel.plan.name = name;
  kernel.plan.extents[0] = tokamak::abi::cellsOfInput(0);
  kernel.plan.inputs.resize(1);
  kernel.image = image;
  return kernel;
}

class BuiltInKernelsTest : public testing::Test {
protected:
  BuiltInKernelsTest() {
    std::map<std::string, codegen::StoredKernel> kernels;
    for (int i = 0; i < 100; ++i)
      kernels["body " + std::to_string(i)] = storedKernel("cell_" + std::to_string(i), "code");
    codegen::StoredKernel sum = storedKernel("cell_sum", "code with a merge");
    sum.kernel = 5;
    sum.merge = 12;
    kernels["sum"] = sum;
    files_ = writeBuiltIn(kernels, /*alignment=*/64);
  }

  BuiltInKernels of(const std::string &target) {
    const BuiltInSet set{target, files_.index, files_.code.data()};
    return BuiltInKernels(std::span(&set, 1));
  }

  BuiltInFiles files_;
};

TEST_F(BuiltInKernelsTest, EachIsFoundByItsWholeKey) {
  BuiltInKernels kernels =
      of(codegen::hostTarget().vectorBits < 512 ? BuiltInKernels::targets().back()->name
                                                : BuiltInKernels::targets().front()->name);
  for (int i = 0; i < 100; ++i) {
    auto found = kernels.find("body " + std::to_string(i));
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->plan.name, "cell_" + std::to_string(i));
    EXPECT_EQ(found->plan.extents[0], tokamak::abi::cellsOfInput(0));
    auto offset = reinterpret_cast<char *>(found->plan.kernel) - files_.code.data();
    EXPECT_EQ(offset % 64, 0);
    EXPECT_EQ(files_.code.substr(offset, 4), "code");
    EXPECT_EQ(found->plan.merge, nullptr);
  }
  auto sum = kernels.find("sum");
  ASSERT_TRUE(sum);
  EXPECT_STREQ(reinterpret_cast<char *>(sum->plan.kernel), "with a merge");
  EXPECT_STREQ(reinterpret_cast<char *>(sum->plan.merge), "merge");
  EXPECT_FALSE(kernels.find("body"));
  EXPECT_FALSE(kernels.find("body 100"));
}

TEST_F(BuiltInKernelsTest, CodeForOtherMachinesIsNotFound) {
  EXPECT_FALSE(of("another target").find("sum"));
  EXPECT_FALSE(BuiltInKernels({}).find("sum"));
}

} // namespace
