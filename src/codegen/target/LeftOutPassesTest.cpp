// The passes that targets leave out exist, and putting one back changes no bit of what kernels
// compute. The kernels here are a sample: ./dev test --target NAME --with-passes all runs all kernels
// of the tests with the complete pipeline, on other targets, too.
#include "codegen/target/Target.h"

#include "codegen/CodeEmitter.h"
#include "codegen/MachineCode.h"
#include "codegen/testing/BlockOperator.h"
#include "codegen/testing/SparseLauncher.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Pass.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// Notes the names of the passes that a target adds.
class PassNames : public llvm::legacy::PassManager {
public:
  void add(llvm::Pass *pass) override {
    names.insert(nameOf(*pass));
    PassManager::add(pass);
  }
  llvm::StringSet<> names;
};

TEST(LeftOutPassesTest, EveryOneExistsAndHasAReason) {
  for (const codegen::Target *target : {&x86Target(), &aarch64Target()}) {
    auto machine = llvm::cantFail(createTargetMachine(*target));
    PassNames passes;
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    ASSERT_FALSE(
        machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile));
    llvm::StringSet<> seen;
    for (const LeftOutPass &pass : target->leftOut) {
      EXPECT_TRUE(passes.names.contains(pass.pass)) << target->name << ": " << pass.pass.str();
      EXPECT_TRUE(seen.insert(pass.pass).second) << target->name << ": twice " << pass.pass.str();
      EXPECT_FALSE(pass.reason.empty()) << pass.pass.str();
    }
  }
}

struct Sample {
  const char *text;
  std::vector<std::pair<int64_t, int64_t>> inputs; // rows and columns
};

const Sample samples[] = {
    {R"(block sizes [s0, s1, s0, s1] (%x: $M, %y: $M) -> ($M, f64, f64) {
      %0 = tok.unary exp %x : $M -> $M
      %1 = tok.binary mul %0, %y : ($M, $M) -> $M
      %2 = tok.aggregate sum full %1 : $M -> f64
      %3 = tok.aggregate max full %1 : $M -> f64
      return %1, %2, %3 : $M, f64, f64
    })",
     {{37, 19}, {37, 19}}},
    {R"(block sizes [s0, 1, s0, 1] (%x: $M, %y: $M) -> ($M, $M, $M) {
      %0 = tok.binary pow %x, %y : ($M, $M) -> $M
      %1 = tok.unary tan %x : $M -> $M
      %2 = tok.binary mod %x, %y : ($M, $M) -> $M
      return %0, %1, %2 : $M, $M, $M
    })",
     {{1003, 1}, {1003, 1}}},
    {R"(block sizes [s0, s1] (%x: $M) -> $M {
      %0 = tok.aggregate max row %x : $M -> $M
      %1 = tok.binary sub %x, %0 : ($M, $M) -> $M
      %2 = tok.unary exp %1 : $M -> $M
      %3 = tok.aggregate sum row %2 : $M -> $M
      %4 = tok.binary div %2, %3 : ($M, $M) -> $M
      return %4 : $M
    })",
     {{41, 70}}},
    {R"(block sizes [s0, 7, 7, 3] (%x: $M, %v: $M) -> ($M, $M, $M) {
      %0 = tok.matmul %x, %v : ($M, $M) -> $M
      %1 = tok.transpose %x : ($M) -> $M
      %2 = tok.matmul %1, %0 : ($M, $M) -> $M
      %3 = tok.aggregate index_min row %0 : $M -> $M
      return %0, %2, %3 : $M, $M, $M
    })",
     {{53, 7}, {7, 3}}},
    {R"(block sizes [s0, s1, s1, 10] (%x: $M, %v: $M) -> ($M, f64) {
      %0 = tok.matmul %x, %v : ($M, $M) -> $M
      %1 = tok.unary sigmoid %0 : $M -> $M
      %2 = tok.aggregate sum full %1 : $M -> f64
      return %1, %2 : $M, f64
    })",
     {{29, 33}, {33, 10}}},
    {R"(block sizes [s0, s1, s1, 17] (%x: $F, %v: $F) -> ($F, $F, $F) {
      %0 = tok.unary log %x : $F -> $F
      %1 = tok.matmul %0, %v : ($F, $F) -> $F
      %2 = tok.aggregate sum column %0 : $F -> $F
      %3 = tok.unary sin %0 : $F -> $F
      return %1, %2, %3 : $F, $F, $F
    })",
     {{27, 29}, {29, 17}}},
    {R"(block sizes [s0, s1, s0, s1] driver [0] csr [0] (%s: $M, %y: $M) -> (f64, $M, $M) {
      %0 = tok.binary mul %s, %y : ($M, $M) -> $M
      %1 = tok.aggregate sum full %0 : $M -> f64
      %2 = tok.aggregate sum row %0 : $M -> $M
      %3 = tok.aggregate sum column %0 : $M -> $M
      return %1, %2, %3 : f64, $M, $M
    })",
     {{61, 43}, {61, 43}}},
};

// A kernel of a sample, and what it computes with the passes left out as they are.
struct SampleKernel {
  std::unique_ptr<llvm::Module> module;
  tokamak::abi::KernelPlan plan;
  std::vector<Matrix> inputs, results;
  std::string object;
};

class LeftOutPassesOnSamples : public ::testing::Test {
protected:
  using Nanoseconds = std::chrono::nanoseconds;

  LeftOutPassesOnSamples() {
    context.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
    std::string llvmText;
    KernelCompilerOptions options;
    options.explainLlvm = [&](const std::string &, const std::string &text) { llvmText = text; };
    KernelCompiler compiler(options);
    for (const Sample &sample : samples) {
      SampleKernel &kernel = kernels.emplace_back();
      BlockOperator block = parseBlockOperator(context, sample.text);
      kernel.plan = *compiler.compile(block.op);
      llvm::SMDiagnostic diagnostic;
      kernel.module =
          llvm::parseIR(llvm::MemoryBufferRef(llvmText, "kernel"), diagnostic, llvmContext);
      for (auto [rows, columns] : sample.inputs)
        kernel.inputs.push_back(random(rows, columns));
    }
    auto emitter = llvm::cantFail(CodeEmitter::create(hostTarget()));
    for (SampleKernel &kernel : kernels) {
      kernel.object = emitter->emitObject(*llvm::CloneModule(*kernel.module))->getBuffer().str();
      kernel.results = run(kernel, kernel.plan);
    }
  }

  // A third of the cells are 0, for the operand that is sparse.
  Matrix random(int64_t rows, int64_t columns) {
    std::uniform_real_distribution<double> distribution(-1, 3);
    Matrix matrix{rows, columns, {}};
    for (int64_t i = 0; i < rows * columns; ++i)
      matrix.cells.push_back(i % 3 == 1 ? 0 : distribution(generator));
    return matrix;
  }

  static std::vector<Matrix> run(const SampleKernel &kernel, const tokamak::abi::KernelPlan &plan) {
    if (plan.driver >= 0)
      return SparseLaunch{kernel.inputs, {}, 24}.run(plan);
    return Launch{kernel.inputs, {}, 24}.run(plan);
  }

  static bool sameBits(const std::vector<Matrix> &left, const std::vector<Matrix> &right) {
    for (auto [a, b] : llvm::zip_equal(left, right))
      for (auto [x, y] : llvm::zip_equal(a.cells, b.cells))
        if (std::bit_cast<uint64_t>(x) != std::bit_cast<uint64_t>(y) &&
            !(std::isnan(x) && std::isnan(y)))
          return false;
    return true;
  }

  // Compiles all kernels with these passes left out and compares. Returns how many have other code;
  // adds up times.
  int checkWithout(const std::vector<LeftOutPass> &leftOut, const std::string &what,
                   Nanoseconds &compiling, Nanoseconds &running) {
    codegen::Target target = hostTarget();
    target.leftOut = leftOut;
    auto emitter = llvm::cantFail(CodeEmitter::create(target));
    int different = 0;
    for (const SampleKernel &kernel : kernels) {
      auto copy = llvm::CloneModule(*kernel.module);
      auto start = std::chrono::steady_clock::now();
      auto object = emitter->emitObject(*copy);
      compiling += std::chrono::steady_clock::now() - start;
      different += object->getBuffer() != kernel.object;
      auto code = llvm::cantFail(MachineCode::link(object->getMemBufferRef()));
      tokamak::abi::KernelPlan plan = kernel.plan;
      plan.kernel = reinterpret_cast<TokKernel>(code->address(plan.name));
      plan.merge = reinterpret_cast<TokMerge>(code->address(plan.name + "_merge"));
      start = std::chrono::steady_clock::now();
      std::vector<Matrix> results = run(kernel, plan);
      running += std::chrono::steady_clock::now() - start;
      EXPECT_TRUE(sameBits(results, kernel.results)) << what << " changes " << plan.name;
    }
    return different;
  }

  void checkAndPrint(const std::vector<LeftOutPass> &leftOut, const std::string &what) {
    Nanoseconds compiling{0}, running{0};
    int different = checkWithout(leftOut, what, compiling, running);
    std::cout << std::left << std::setw(44) << what << std::right << std::setw(3) << different
              << std::setw(10) << compiling.count() / 1000 << std::setw(10)
              << running.count() / 1000 << "\n";
  }

  mlir::MLIRContext context;
  llvm::LLVMContext llvmContext;
  std::mt19937_64 generator{11};
  std::vector<SampleKernel> kernels;
};

TEST_F(LeftOutPassesOnSamples, NoneChangesABit) {
  std::vector<LeftOutPass> leftOut = hostTarget().leftOut;
  std::cout << "put back                        kernels with other code, us compiling, running\n";
  checkAndPrint(leftOut, "none");
  checkAndPrint({}, "all");
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return; // each alone takes minutes here, and LLVM is not instrumented
#endif
  for (const LeftOutPass &pass : leftOut) {
    std::vector<LeftOutPass> others;
    for (const LeftOutPass &other : leftOut)
      if (other.pass != pass.pass)
        others.push_back(other);
    checkAndPrint(others, pass.pass.str());
  }
}

} // namespace
