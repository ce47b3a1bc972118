// Programs that begin with built-in kernels. The tests make these kernels themselves, since only the
// program `tokamak` has some.
#include "codegen/target/Target.h"
#include "exec/BuiltInKernels.h"
#include "exec/Program.h"
#include "exec/ProgramPlans.h"

#include "cost/ModelFile.h"
#include "ir/tok/TokDialect.h"
#include "runtime/parallel/TileScheduler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace tokamak;
using namespace tokamak::exec;
using pipeline::Tier;
using runtime::Value;

namespace {

// f: the sum of all cells of exp(X * k) + X. g: the same of the square root of a polynomial of X.
constexpr const char *text = R"(
func.func @f(%x: tensor<?x?xf64>, %k: f64) -> f64 {
  %0 = tok.binary mul %x, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.unary exp %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.binary add %1, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.aggregate sum full %2 : tensor<?x?xf64> -> f64
  return %3 : f64
}
func.func @g(%x: tensor<?x?xf64>, %k: f64) -> f64 {
  %0 = tok.binary mul %x, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.binary add %0, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary mul %1, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %3 = tok.binary add %2, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %4 = tok.binary mul %3, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %5 = tok.binary add %4, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %6 = tok.binary mul %5, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %7 = tok.binary add %6, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %8 = tok.binary mul %7, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %9 = tok.binary add %8, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %10 = tok.binary mul %9, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %11 = tok.binary add %10, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %12 = tok.binary mul %11, %k : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %13 = tok.binary add %12, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %14 = tok.unary sqrt %13 : tensor<?x?xf64> -> tensor<?x?xf64>
  %15 = tok.aggregate sum full %14 : tensor<?x?xf64> -> f64
  return %15 : f64
}
func.func @main() {
  return
}
)";
constexpr double factor = 0.5;

class CollectedKernels : public codegen::KernelStore {
public:
  std::optional<codegen::StoredKernel> find(std::string_view) override { return {}; }
  bool hasBuiltIn(std::string_view) const override { return false; }
  void keep(std::string_view key, const codegen::StoredKernel &kernel) override {
    std::lock_guard lock(mutex_);
    kernels[std::string(key)] = kernel;
  }
  std::map<std::string, codegen::StoredKernel> kernels;

private:
  std::mutex mutex_;
};

class TiersTest : public testing::Test {
protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
    GTEST_SKIP() << "kernels that call the sanitizer run only where they are linked";
#endif
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    options_.machineModel = testing::TempDir() + "tiers-" + std::to_string(getpid()) + ".json";
    cost::writeModelFile({cost::MachineModel()}, options_.machineModel);
    makeBuiltInKernels();
  }
  void TearDown() override {
    std::filesystem::remove(options_.machineModel);
    if (code_)
      munmap(code_, codeBytes_);
  }

  void makeBuiltInKernels() {
    CollectedKernels collected;
    codegen::KernelCompiler compiler({.store = &collected});
    ProgramOptions options = options_;
    options.selector = fusion::Selector::None;
    options.kernels = &compiler;
    call(*programWith(options), matrix(20, 10));
    ASSERT_GE(collected.kernels.size(), 4u);
    BuiltInFiles files = writeBuiltIn(collected.kernels, /*alignment=*/64);
    index_ = files.index;
    codeBytes_ = files.code.size();
    code_ = static_cast<char *>(
        mmap(nullptr, codeBytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(code_, MAP_FAILED);
    std::memcpy(code_, files.code.data(), codeBytes_);
    ASSERT_EQ(mprotect(code_, codeBytes_, PROT_READ | PROT_EXEC), 0);
    for (const codegen::Target *target : BuiltInKernels::targets())
      sets_.push_back({target->name, index_, code_});
    builtIn_.emplace(sets_);
  }

  std::unique_ptr<Program> programWith(const ProgramOptions &options) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module);
    return Program::compile(*module, options);
  }
  std::unique_ptr<Program> programWith(Tier tier, int threads = 1) {
    ProgramOptions options = options_;
    options.firstTier = tier;
    options.threads = threads;
    options.builtInKernels = &*builtIn_;
    return programWith(options);
  }

  static Value matrix(int64_t rows, int64_t columns) {
    std::shared_ptr<runtime::Array> array = runtime::Array::create({rows, columns});
    for (int64_t i = 0; i < array->cells(); ++i)
      array->mutableCellsAs<double>()[i] = static_cast<double>(i % 17) / 16;
    return runtime::ArrayReference(std::move(array));
  }
  static double call(Program &program, Value x, const char *function = "f") {
    runtime::Scheduler scheduler(1);
    runtime::ExecutionContext context;
    context.scheduler = &scheduler;
    return program.call(function, {std::move(x), factor}, context).front().asDouble();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  ProgramOptions options_;
  std::string index_;
  char *code_ = nullptr;
  size_t codeBytes_ = 0;
  std::vector<BuiltInSet> sets_;
  std::optional<BuiltInKernels> builtIn_;
};

// More executions than it takes until compiling pays.
constexpr int many = 3000;

TEST_F(TiersTest, BlocksBeginWithBuiltInKernelsAndAreCompiledLater) {
  std::unique_ptr<Program> program = programWith(Tier::BuiltIn);
  double first = call(*program, matrix(20, 10));
  EXPECT_EQ(program->counts().kernelsCompiled, 0);
  EXPECT_EQ(program->counts().specializations, 1);
  for (int i = 0; i < many; ++i)
    EXPECT_NEAR(call(*program, matrix(20, 10)), first, 1e-9 * first);
  EXPECT_EQ(program->counts().kernelsCompiled, 1);
  EXPECT_EQ(program->counts().specializations, 2);
  EXPECT_EQ(call(*program, matrix(20, 10)), call(*programWith(Tier::Compiled), matrix(20, 10)));
}

// The square root alone has no built-in kernel.
TEST_F(TiersTest, FewKernelsThatAreNotBuiltInAreCompiled) {
  std::unique_ptr<Program> program = programWith(Tier::BuiltIn);
  double result = call(*program, matrix(20, 10), "g");
  EXPECT_EQ(program->counts().kernelsCompiled, 1);
  EXPECT_EQ(program->counts().kernelsBuiltIn, 3);
  EXPECT_NEAR(result, call(*programWith(Tier::Compiled), matrix(20, 10), "g"), 1e-9 * result);
}

TEST_F(TiersTest, TheNumberOfExecutionsDecides) {
  std::vector<double> results[2];
  for (std::vector<double> &each : results) {
    std::unique_ptr<Program> program = programWith(Tier::BuiltIn, /*threads=*/2);
    for (int i = 0; i < many; ++i)
      each.push_back(call(*program, matrix(20, 10)));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(TiersTest, MuchDataAreCompiledForAtOnce) {
  std::unique_ptr<Program> program = programWith(Tier::BuiltIn);
  call(*program, matrix(20'000, 100));
  EXPECT_EQ(program->counts().kernelsCompiled, 1);
  EXPECT_EQ(program->counts().kernelsBuiltIn, 0);
}

TEST_F(TiersTest, OtherSizesShareTheTimeThatABlockMayTake) {
  std::unique_ptr<Program> program = programWith(Tier::BuiltIn);
  for (int i = 0; i < many; ++i)
    call(*program, matrix(20 + i % 2 * 1000, 10));
  int64_t compiled = program->counts().kernelsCompiled;
  EXPECT_GE(compiled, 1);
  for (int i = 0; i < 10; ++i)
    call(*program, matrix(30'000, 3));
  EXPECT_GT(program->counts().kernelsCompiled + program->counts().kernelsReused, compiled)
      << "no more plans of built-in kernels";
}

// The time is that of compiling once, whatever later plans say.
TEST(BlockPlansTest, AllSizesShareTheTimeOnBuiltInKernels) {
  BlockPlans plans;
  plans.addBuiltIn({}, {.ofOneExecution = 9, .ofCompiling = 1000});
  EXPECT_EQ(plans.builtInNanoseconds, 990);
  plans.addBuiltIn({}, {.ofOneExecution = 19, .ofCompiling = 5000});
  EXPECT_EQ(plans.builtInNanoseconds, 970);
  EXPECT_EQ(plans.tier(), Tier::BuiltIn);
  EXPECT_TRUE(plans.mayRun(plans.builtIn[1]));
  EXPECT_EQ(plans.builtInNanoseconds, 950);
  EXPECT_FALSE(plans.beginsCompiling());
}

TEST_F(TiersTest, KernelsAreCompiledInTheBackgroundWhileOthersCall) {
  std::unique_ptr<Program> program = programWith(Tier::BuiltIn, /*threads=*/2);
  double expected = call(*program, matrix(20, 10));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < many / 4; ++i)
        wrong += std::abs(call(*program, matrix(20, 10)) - expected) > 1e-9 * expected;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(program->counts().kernelsCompiled, 1);
  // Whoever comes second, the background or the run that needs it, finds the kernel.
  for (int i = 0; i < 1000 && program->counts().kernelsReused == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(program->counts().kernelsReused, 1);
}

} // namespace
