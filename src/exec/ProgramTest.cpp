#include "exec/Program.h"

#include "cost/ModelFile.h"
#include "exec/LateBinding.h"
#include "ir/tok/TokDialect.h"
#include "runtime/image/Executor.h"
#include "runtime/image/PlannedProgram.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/parallel/TileScheduler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace tokamak;
using runtime::Array;
using runtime::Value;

namespace {

// `smooth` computes (exp(X * 0.5) + X) summed by columns, and the sum of all cells times k.
// `first` fails where the matrix has no row.
constexpr const char *functions = R"(
func.func @smooth(%x: tensor<?x?xf64>, %k: f64) -> (tensor<?x?xf64>, f64) {
  %half = tok.constant 0.5 : f64
  %0 = tok.binary mul %x, %half : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.unary exp %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.binary add %1, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.aggregate sum column %2 : tensor<?x?xf64> -> tensor<?x?xf64>
  %4 = tok.aggregate sum full %2 : tensor<?x?xf64> -> f64
  %5 = tok.binary mul %4, %k : (f64, f64) -> f64
  return %3, %5 : tensor<?x?xf64>, f64
}
func.func @first(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %n = tok.columns %x : tensor<?x?xf64>
  %0 = tok.slice %x, %one, %one, %one, %n : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
func.func @main() {
  return
}
)";

class ProgramTest : public testing::Test {
protected:
  ProgramTest() {
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(functions, &context_);
    EXPECT_TRUE(module_);
    // Of this process: tests run at the same time.
    options_.machineModel =
        testing::TempDir() + "machine-model-" + std::to_string(getpid()) + ".json";
    cost::writeModelFile({cost::MachineModel()}, options_.machineModel);
    program_ = exec::Program::compile(*module_, options_);
    EXPECT_TRUE(program_);
  }

  ~ProgramTest() override { std::filesystem::remove(options_.machineModel); }

  std::vector<Value> call(std::string_view entry, std::vector<Value> arguments) {
    std::ostringstream output;
    runtime::Scheduler scheduler(1);
    runtime::ExecutionContext context;
    context.output = &output;
    context.scheduler = &scheduler;
    return program_->call(entry, std::move(arguments), context);
  }
  std::string errorOf(std::string_view entry, std::vector<Value> arguments) {
    try {
      call(entry, std::move(arguments));
      return "no error";
    } catch (const Error &error) {
      return error.message();
    }
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  exec::ProgramOptions options_;
  std::unique_ptr<exec::Program> program_;
};

Value matrix(int64_t rows, int64_t columns) {
  runtime::ArrayPointer array = Array::create({rows, columns});
  for (int64_t i = 0; i < array->cells(); ++i)
    array->mutableData()[i] = static_cast<double>(i * 7919 % 1009) / 1009;
  return array;
}

// The bits of the results of `smooth`.
std::string bitsOf(const std::vector<Value> &results) {
  const Array &sums = *results[0].array();
  std::string bits(reinterpret_cast<const char *>(sums.data()), sums.bytes());
  double total = results[1].asDouble();
  return bits.append(reinterpret_cast<const char *>(&total), sizeof total);
}

TEST_F(ProgramTest, keepsItsPlansBetweenCalls) {
  std::string first = bitsOf(call("smooth", {matrix(300, 7), 2.0}));
  EXPECT_EQ(program_->counts().specializations, 1);
  EXPECT_EQ(bitsOf(call("smooth", {matrix(300, 7), 2.0})), first);
  EXPECT_EQ(bitsOf(call("smooth", {matrix(300, 7), 2.0})), first);
  EXPECT_EQ(program_->counts().specializations, 1);
  EXPECT_GE(program_->counts().kernelsCompiled, 1);
}

// No size and no number of the program is left in them (pipeline/GeneralOperators.h).
TEST_F(ProgramTest, kernelsOfSingleOperatorsServeAllSizes) {
  options_.selector = fusion::Selector::None;
  module_ = mlir::parseSourceString<mlir::ModuleOp>(functions, &context_);
  program_ = exec::Program::compile(*module_, options_);
  ASSERT_TRUE(program_);
  call("smooth", {matrix(300, 7), 2.0});
  EXPECT_EQ(program_->counts().kernelsCompiled, 5);
  for (int64_t columns : {2, 8, 100, 1000})
    call("smooth", {matrix(40, columns), 3.0});
  EXPECT_EQ(program_->counts().kernelsCompiled, 5);
  EXPECT_EQ(program_->counts().specializations, 5);
}

TEST_F(ProgramTest, onePlanServesAllSizesThatAreNotSpecialisedFor) {
  options_.disabled.insert(exec::specializeSizesName);
  program_ = exec::Program::compile(*mlir::parseSourceString<mlir::ModuleOp>(functions, &context_),
                                    options_);
  ASSERT_TRUE(program_);
  for (int64_t columns : {7, 3, 100, 129})
    call("smooth", {matrix(40 + columns, columns), 2.0});
  EXPECT_EQ(program_->counts().specializations, 1);
}

// At the second size, or at the first one where it is known which sizes change.
TEST_F(ProgramTest, onePlanServesSizesThatKeepChanging) {
  auto plans = [&](std::optional<Size> columns) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(functions, &context_);
    auto smooth = module->lookupSymbol<mlir::func::FuncOp>("smooth");
    smooth->setAttr(tok::manySizesAttributeName, mlir::UnitAttr::get(&context_));
    if (columns)
      smooth.setArgAttr(0, tok::expectedSizesAttributeName,
                        tok::sizesAttribute(&context_, {Size::symbol(0), *columns}));
    program_ = exec::Program::compile(*module, options_);
    for (int64_t columns : {7, 3, 100, 129})
      call("smooth", {matrix(40 + columns, columns), 2.0});
    return program_->counts().specializations;
  };
  EXPECT_EQ(plans({}), 2);
  EXPECT_EQ(plans(Size::symbol(1)), 1);
  EXPECT_EQ(plans(Size::constant(7)), 2); // what is expected may be wrong
}

TEST_F(ProgramTest, isTheSameFromItsBytes) {
  std::vector<Value> arguments = {matrix(300, 7), 2.0};
  std::string expected = bitsOf(call("smooth", arguments));
  std::string error = errorOf("first", {matrix(0, 5)});
  runtime::ByteWriter writer;
  exec::Program::compile(*mlir::parseSourceString<mlir::ModuleOp>(functions, &context_), options_)
      ->write(writer);
  runtime::ByteReader reader(writer.bytes());
  program_ = exec::Program::read(reader, options_);
  EXPECT_TRUE(program_->counts().isProgramLoaded);
  EXPECT_EQ(bitsOf(call("smooth", arguments)), expected);
  EXPECT_EQ(errorOf("first", {matrix(0, 5)}), error);
  EXPECT_NE(error, "no error");
  EXPECT_NE(errorOf("smooth", {2.0, 2.0}).find("expected an array"), std::string::npos);
  runtime::ByteReader half(std::string_view(writer.bytes()).substr(0, writer.bytes().size() / 2));
  EXPECT_THROW(exec::Program::read(half, options_), Error);
}

constexpr std::pair<int64_t, int64_t> sizes[] = {{300, 7}, {301, 7},   {200, 3}, {1, 1},
                                                 {0, 5},   {1000, 20}, {150, 1}, {3, 40}};

// Sizes that were not expected, and sparse matrices, have plans, too.
TEST_F(ProgramTest, isPlannedAheadForAllInputs) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(functions, &context_);
  module->lookupSymbol<mlir::func::FuncOp>("smooth").setArgAttr(
      0, tok::expectedSizesAttributeName,
      tok::sizesAttribute(&context_, {Size::symbol(0), Size::constant(7)}));
  program_ = exec::Program::compile(*module, options_);
  runtime::PlannedProgram planned = program_->planAhead();
  runtime::PlanTable plans(planned);
  size_t smooth = llvm::find_if(program_->entries(), [](const exec::Entry &entry) {
                    return entry.name == "smooth";
                  })->function;
  for (auto [rows, columns] : sizes)
    for (bool isSparse : {false, true}) {
      Value input = matrix(rows, columns);
      if (isSparse)
        input = Array::asSparse(input.array());
      std::vector<Value> arguments = {input, 2.0}, results(2);
      runtime::ExecutionContext context;
      runtime::Executor(planned.image, &plans, context).call(smooth, arguments, results);
      std::vector<Value> expected = call("smooth", {input, 2.0});
      EXPECT_NEAR(results[1].asDouble(), expected[1].asDouble(),
                  1e-12 * std::abs(expected[1].asDouble()));
      ASSERT_EQ(results[0].array()->shape(), expected[0].array()->shape());
      for (int64_t column = 0; column < columns; ++column)
        EXPECT_NEAR(results[0].array()->at(0, column), expected[0].array()->at(0, column), 1e-9);
    }
}

// Threads call in any order, and after some plans the widths of rows are no constants any more.
TEST_F(ProgramTest, bitsDontDependOnTheOrderOfCalls) {
  std::vector<std::string> expected;
  for (size_t first = 0; first < std::size(sizes); ++first) {
    program_ = exec::Program::compile(
        *mlir::parseSourceString<mlir::ModuleOp>(functions, &context_), options_);
    for (size_t i = 0; i < std::size(sizes); ++i) {
      size_t which = (first + i) % std::size(sizes);
      std::string bits =
          bitsOf(call("smooth", {matrix(sizes[which].first, sizes[which].second), 2.0}));
      if (first == 0)
        expected.push_back(bits);
      EXPECT_TRUE(bits == expected[which]) << "size " << which << " after that of " << first;
    }
  }
}

TEST_F(ProgramTest, servesManyThreadsWithFewPlans) {
  constexpr int threads = 4, callsPerThread = 2500;
  std::vector<Value> inputs;
  std::vector<std::string> expected;
  for (auto [rows, columns] : sizes) {
    inputs.push_back(matrix(rows, columns));
    auto alone = exec::Program::compile(
        *mlir::parseSourceString<mlir::ModuleOp>(functions, &context_), options_);
    std::swap(alone, program_);
    expected.push_back(bitsOf(call("smooth", {inputs.back(), 2.0})));
    std::swap(alone, program_);
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int thread = 0; thread < threads; ++thread)
    callers.emplace_back([&, thread] {
      for (int i = 0; i < callsPerThread; ++i) {
        size_t which = (i + thread) % std::size(sizes);
        wrong += bitsOf(call("smooth", {inputs[which], 2.0})) != expected[which];
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(program_->counts().specializations, std::ssize(sizes));
}

TEST_F(ProgramTest, callsGoOnAfterAnError) {
  EXPECT_EQ(errorOf("first", {matrix(0, 3)}), "index out of range: row 1 of a 0x3 matrix");
  EXPECT_EQ(call("first", {matrix(2, 3)})[0].array()->shape().text(), "1x3");
  EXPECT_EQ(errorOf("first", {matrix(0, 3)}), "index out of range: row 1 of a 0x3 matrix");
}

TEST_F(ProgramTest, checksWhatItIsCalledWith) {
  EXPECT_EQ(errorOf("smoth", {}),
            "the program has no function 'smoth' that can be called; did you mean 'smooth'?");
  EXPECT_EQ(errorOf("smooth", {matrix(2, 2)}), "smooth: expected 2 arguments, got 1");
  EXPECT_EQ(errorOf("smooth", {2.0, 2.0}), "smooth: argument 1: expected an array, got a double");
  EXPECT_EQ(errorOf("smooth", {matrix(2, 2), int64_t{2}}),
            "smooth: argument 2: expected a double, got an integer");
  Value single = Array::create({2, 2}, ElementType::F32);
  EXPECT_EQ(errorOf("smooth", {single, 2.0}),
            "smooth: argument 1: expected an array of 2 dimensions and f64 cells, got one of size "
            "2x2 and f32 cells");
}

TEST_F(ProgramTest, namesItsEntries) {
  std::vector<std::string> names;
  for (const exec::Entry &entry : program_->entries())
    names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"smooth", "first", "main"}));
}

// Weights that lie anywhere in a file are read there by what is computed of them before the first call. What it gives,
// and what calls read themselves, is aligned; nothing else is copied.
TEST_F(ProgramTest, weightsNeedNotBeAligned) {
  constexpr int64_t rows = 256, columns = 512, cells = rows * columns;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x?xf32> {tok.sizes = [256, 512]},
                    %s: tensor<?x?xf32> {tok.sizes = [256, 512]}, %b: tensor<?x?xf32> {tok.sizes = [512, 256]})
        -> tensor<?x?xf32> attributes {tok.weights = 3 : i64} {
      %0 = tok.binary mul %w, %s : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      %1 = tok.transpose %0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
      %2 = tok.binary add %x, %1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      %3 = tok.binary sub %2, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      return %3 : tensor<?x?xf32>
    })",
                                                        &context_);
  ASSERT_TRUE(module);
  program_ = exec::Program::compile(*module, options_);
  ASSERT_TRUE(program_);
  std::vector<std::byte> file(3 * cells * sizeof(float) + 1);
  std::vector<Value> weights;
  for (int64_t weight = 0; weight < 3; ++weight) {
    std::byte *begin = file.data() + 1 + weight * cells * sizeof(float);
    for (int64_t i = 0; i < cells; ++i) {
      auto cell = static_cast<float>((i + weight) % 13);
      std::memcpy(begin + i * sizeof(float), &cell, sizeof cell);
    }
    runtime::Shape shape =
        weight < 2 ? runtime::Shape{rows, columns} : runtime::Shape{columns, rows};
    weights.push_back(Array::over(shape, ElementType::F32, begin));
  }
  runtime::Scheduler scheduler(1);
  runtime::ExecutionContext context;
  context.scheduler = &scheduler;
  runtime::BufferPool &pool = runtime::BufferPool::instance();
  pool.releaseCached(); // larger buffers of other tests, which would be used again
  pool.resetPeak();
  int64_t before = pool.statistics().inUse;
  program_->holdWeights(std::move(weights), context);
  // The product and a copy of what is subtracted, but of no factor.
  EXPECT_LT(pool.statistics().peakInUse - before, 3 * cells * static_cast<int64_t>(sizeof(float)));
  runtime::ArrayPointer x = Array::create({columns, rows}, ElementType::F32);
  std::fill_n(x->mutableCellsAs<float>(), cells, 1.0f);
  std::vector<Value> results = call("main", {x});
  const float *result = results[0].array()->floats();
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j < rows; ++j) {
      int64_t w = j * columns + i, b = i * rows + j;
      ASSERT_EQ(result[b], static_cast<float>(1 + w % 13 * ((w + 1) % 13) - (b + 2) % 13));
    }
}

} // namespace
