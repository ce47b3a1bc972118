#include "runtime/model/CompiledModel.h"

#include "base/Error.h"
#include "runtime/image/ImageTesting.h"
#include "runtime/image/PlannedProgram.h"
#include "runtime/model/CallerArrays.h"
#include "runtime/parallel/ParallelLibrary.h"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

//===- matrices of the caller ----------------------------------------------------------------===//

namespace {

tokamak_matrix matrixOf(int64_t rows, int64_t columns, double *cells = nullptr,
                        int64_t capacity = 0) {
  return {rows, columns, cells, nullptr, nullptr, capacity, nullptr};
}

// Of three columns, dense or sparse.
tokamak_matrix twoRows(double *cells, const int64_t *offsets = nullptr,
                       const int32_t *indices = nullptr) {
  return {2, 3, cells, offsets, indices, 0, nullptr};
}

std::string errorOf(const tokamak_matrix &matrix) {
  try {
    arrayOverCaller(matrix);
    return "no error";
  } catch (const Error &error) {
    return error.message();
  }
}

} // namespace

TEST(CallerArrays, areNotCopied) {
  double cells[] = {1, 2, 3, 4, 5, 6};
  ArrayReference array = arrayOverCaller(twoRows(cells));
  EXPECT_EQ(array->data(), cells);
  EXPECT_EQ(array->at(1, 0), 4);
}

TEST(CallerArrays, mayBeSparse) {
  int64_t offsets[] = {0, 1, 3};
  int32_t columns[] = {2, 0, 1};
  double cells[] = {5, 6, 7};
  tokamak_matrix matrix = twoRows(cells, offsets, columns);
  EXPECT_EQ(arrayOverCaller(matrix)->at(0, 2), 5);
  EXPECT_EQ(arrayOverCaller(matrix)->at(1, 2), 0);
  columns[2] = 3;
  EXPECT_EQ(errorOf(matrix), "row 1 has an entry in column 3 of 3");
  columns[2] = 0;
  EXPECT_EQ(errorOf(matrix), "the columns 0, 0 of row 1 don't ascend");
  offsets[1] = 4;
  EXPECT_EQ(errorOf(matrix), "row 1 ends before it begins");
}

TEST(CallerArrays, needNoColumnsAndCellsWithoutEntries) {
  int64_t offsets[] = {0, 0, 0};
  ArrayReference empty = arrayOverCaller(twoRows(nullptr, offsets));
  EXPECT_TRUE(empty->isSparse());
  EXPECT_EQ(empty->entries(), 0);
  EXPECT_EQ(empty->at(1, 2), 0);
  offsets[2] = 1;
  int32_t column = 2;
  double cell = 5;
  EXPECT_EQ(errorOf(twoRows(&cell, offsets)), "there are 1 entries, but their columns are NULL");
  EXPECT_EQ(errorOf(twoRows(nullptr, offsets, &column)),
            "there are 1 entries, but their cells are NULL");
}

TEST(CallerArrays, areCopiedIfTheyAreNotAligned) {
  const int64_t offsets[] = {0, 1, 2};
  const int32_t columns[] = {2, 0};
  const double cells[] = {5, 6};
  std::byte memory[sizeof offsets + sizeof columns + sizeof cells + 1];
  std::byte *unaligned = memory + (reinterpret_cast<uintptr_t>(memory) % 2 == 0);
  auto put = [&](const void *part, size_t bytes) -> const void * {
    void *place = std::memcpy(unaligned, part, bytes);
    unaligned += bytes;
    return place;
  };
  tokamak_matrix matrix = twoRows(nullptr);
  matrix.offsets = static_cast<const int64_t *>(put(offsets, sizeof offsets));
  matrix.indices = static_cast<const int32_t *>(put(columns, sizeof columns));
  matrix.cells = static_cast<double *>(const_cast<void *>(put(cells, sizeof cells)));
  ArrayReference array = arrayOverCaller(matrix);
  EXPECT_TRUE(array->isAligned());
  EXPECT_EQ(array->at(0, 2), 5);
  EXPECT_EQ(array->at(1, 0), 6);
}

TEST(CallerArrays, areChecked) {
  EXPECT_EQ(errorOf(matrixOf(-1, 3)), "-1x3 is no size of a matrix");
  EXPECT_EQ(errorOf(matrixOf(1, 3)), "the cells are NULL");
  EXPECT_EQ(errorOf(matrixOf(0, 3)), "no error");
}

TEST(CallerArrays, areWrittenToTheCallersMemory) {
  double cells[4] = {};
  tokamak_matrix result = matrixOf(0, 0, cells, 4);
  MatrixResult(Array::filled({2, 2}, 3), result).give();
  EXPECT_EQ(result.rows, 2);
  EXPECT_EQ(cells[3], 3);
  EXPECT_EQ(result.memory, nullptr);
  EXPECT_THROW(MatrixResult(Array::filled({2, 3}, 3), result), Error);
  EXPECT_EQ(result.columns, 3);
}

TEST(CallerArrays, areOwnedByResultsAlone) {
  ArrayReference shared = Array::filled({2, 2}, 3);
  tokamak_matrix result{};
  MatrixResult(shared, result).give();
  EXPECT_NE(result.cells, shared->data());
  result.cells[0] = 1;
  EXPECT_EQ(shared->at(0, 0), 3);
  releaseArray(result);
  EXPECT_EQ(result.cells, nullptr);
  releaseArray(result);
}

//===- calls ---------------------------------------------------------------------------------===//

namespace {

// A model of one function that prints its number and gives it back.
struct SampleModel {
  std::string image;
  TokModelValue number{"x", TOK_MODEL_DOUBLE};
  TokModelEntry entry{};
  TokNativeEntry native{"print", reinterpret_cast<void *>(&runPrint)};
  TokModel model{TOK_MODEL_VERSION, TOK_ABI_VERSION, "sample", &entry, 1, nullptr, 0, &native, 1};

  SampleModel() {
    PlannedProgram program;
    program.image = newImage();
    FunctionBuilder(program.image, "main", 1, 1, 1).native("print", {0}, {}).finish({0});
    image = program.bytes();
    entry = {"f", image.data(), image.size(), &number, &number, 1, 1, nullptr};
  }
  int32_t call(TokContext *context, double given, double &result) {
    uint64_t word = std::bit_cast<uint64_t>(given);
    void *into = &result;
    return tokamak_model_call(&model, 0, context, &word, &into);
  }
};

} // namespace

TEST(CompiledModel, callsItsFunctions) {
  SampleModel sample;
  TokContext *context = tokamak_model_context_create();
  std::string printed;
  tokamak_model_context_set_output(
      context,
      [](void *owner, const char *text, size_t bytes) {
        static_cast<std::string *>(owner)->append(text, bytes);
      },
      &printed);
  double result = 0;
  EXPECT_EQ(sample.call(context, 2.5, result), 0);
  EXPECT_EQ(result, 2.5);
  EXPECT_EQ(printed, "2.5\n");
  EXPECT_STREQ(tokamak_model_context_error(context), "");
  tokamak_model_context_free(context);
}

TEST(CompiledModel, isOfTheRuntimesVersion) {
  SampleModel sample;
  sample.model.kernelVersion += 1;
  TokContext *context = tokamak_model_context_create();
  double result = 0;
  EXPECT_EQ(sample.call(context, 2.5, result), 70);
  EXPECT_STREQ(
      tokamak_model_context_error(context),
      "sample: internal error: it was compiled for another version of the runtime that it is "
      "linked with\n");
  tokamak_model_context_free(context);
}

TEST(CompiledModel, saysWhichArgumentIsWrong) {
  SampleModel sample;
  sample.number.type = TOK_MODEL_MATRIX;
  TokContext *context = tokamak_model_context_create();
  uint64_t word = 0;
  void *into = &word;
  EXPECT_EQ(tokamak_model_call(&sample.model, 0, context, &word, &into), 2);
  EXPECT_STREQ(tokamak_model_context_error(context),
               "sample: error: f: argument x: the matrix is NULL\n");
  tokamak_model_context_free(context);
}

namespace {

// A model of one function that gives its arguments back, in another order.
struct ExchangingModel {
  std::string image;
  std::vector<TokModelValue> parameters, results;
  TokModelEntry entry{};
  TokModel model{TOK_MODEL_VERSION, TOK_ABI_VERSION, "sample", &entry, 1, nullptr, 0, nullptr, 0};

  // `order[i]`: the number of the argument that result i is.
  ExchangingModel(std::vector<TokModelType> types, std::vector<int32_t> order) {
    static const char *const names[] = {"a", "b", "c"}, *const givenNames[] = {"x", "y", "z"};
    for (size_t i = 0; i < types.size(); ++i)
      parameters.push_back({names[i], types[i]});
    for (size_t i = 0; i < order.size(); ++i)
      results.push_back({givenNames[i], types[order[i]]});
    auto count = static_cast<int>(types.size());
    PlannedProgram program;
    program.image = newImage();
    FunctionBuilder(program.image, "main", count, static_cast<int>(order.size()), count)
        .finish(order);
    image = program.bytes();
    entry = {"f",
             image.data(),
             image.size(),
             parameters.data(),
             results.data(),
             parameters.size(),
             results.size(),
             nullptr};
  }
  int32_t call(TokContext *context, const std::vector<const void *> &arguments,
               const std::vector<void *> &into) {
    std::vector<uint64_t> words;
    for (const void *argument : arguments)
      words.push_back(reinterpret_cast<uint64_t>(argument));
    return tokamak_model_call(&model, 0, context, words.data(), into.data());
  }
};

} // namespace

TEST(CompiledModel, givesResultsInTheMemoryOfArguments) {
  ExchangingModel sample({TOK_MODEL_MATRIX, TOK_MODEL_MATRIX}, {1, 0});
  double first[] = {1, 2}, second[] = {3, 4};
  tokamak_matrix a = matrixOf(1, 2, first);
  tokamak_matrix b = matrixOf(1, 2, second);
  tokamak_matrix x = matrixOf(0, 0, first, 2), y = matrixOf(0, 0, second, 2);
  EXPECT_EQ(sample.call(nullptr, {&a, &b}, {&x, &y}), 0);
  EXPECT_EQ(std::vector<double>(first, first + 2), (std::vector<double>{3, 4}));
  EXPECT_EQ(std::vector<double>(second, second + 2), (std::vector<double>{1, 2}));
}

TEST(CompiledModel, refusesOneMemoryForTwoResults) {
  ExchangingModel sample({TOK_MODEL_MATRIX, TOK_MODEL_MATRIX}, {0, 1});
  TokContext *context = tokamak_model_context_create();
  double cells[] = {1, 2, 3, 4}, room[] = {0, 0, 0};
  tokamak_matrix a = matrixOf(1, 2, cells);
  tokamak_matrix b = matrixOf(1, 2, cells + 2);
  tokamak_matrix x = matrixOf(0, 0, room, 2), y = matrixOf(0, 0, room + 1, 2);
  EXPECT_EQ(sample.call(context, {&a, &b}, {&x, &y}), 1);
  const char *text = "sample: error: f: the memory that the caller gave for the results x and y "
                     "overlaps\n";
  EXPECT_STREQ(tokamak_model_context_error(context), text);
  EXPECT_EQ(room[0], 0);
  EXPECT_EQ(sample.call(context, {&a, &b}, {&x, &x}), 2);
  EXPECT_STREQ(tokamak_model_context_error(context), text);
  tokamak_model_context_free(context);
}

TEST(CompiledModel, writesNoResultIfOneDoesNotFit) {
  ExchangingModel sample({TOK_MODEL_MATRIX, TOK_MODEL_MATRIX}, {0, 0, 1});
  double cells[] = {1, 2}, room[] = {0, 0}, small[] = {0};
  tokamak_matrix a = matrixOf(1, 2, cells);
  tokamak_matrix x = matrixOf(0, 0, room, 2), y{}, z = matrixOf(0, 0, small, 1);
  EXPECT_EQ(sample.call(nullptr, {&a, &a}, {&x, &y, &z}), 1);
  EXPECT_EQ(room[0], 0);
  EXPECT_EQ(y.memory, nullptr);
  EXPECT_EQ(z.columns, 2);
}

TEST(CompiledModel, takesTextsThatTheLastCallGave) {
  ExchangingModel sample({TOK_MODEL_TEXT}, {0});
  TokContext *context = tokamak_model_context_create();
  const char *text = nullptr;
  EXPECT_EQ(sample.call(context, {"a text that is too long to be stored in place"}, {&text}), 0);
  EXPECT_EQ(sample.call(context, {text}, {&text}), 0);
  EXPECT_STREQ(text, "a text that is too long to be stored in place");
  text = nullptr;
  EXPECT_EQ(sample.call(nullptr, {"nobody keeps it"}, {&text}), 2);
  EXPECT_EQ(text, nullptr);
  tokamak_model_context_free(context);
}

TEST(CompiledModel, mayHaveNoContext) {
  tokamak_model_context_set_threads(nullptr, 1);
  tokamak_model_context_set_seed(nullptr, 1);
  tokamak_model_context_set_output(nullptr, nullptr, nullptr);
  tokamak_model_context_free(nullptr);
  tokamak_model_matrix_free(nullptr);
  EXPECT_STREQ(tokamak_model_context_error(nullptr), "");
  EXPECT_STREQ(tokamak_model_context_error_file(nullptr), "");
  EXPECT_EQ(tokamak_model_context_error_line(nullptr), 0);
  EXPECT_EQ(tokamak_model_context_error_column(nullptr), 0);
}

//===- threads -------------------------------------------------------------------------------===//

TEST(WorkerThreads, runEachIterationOnceInNestedLoops) {
  struct Nest {
    void *arena;
    std::vector<std::atomic<int>> counts = std::vector<std::atomic<int>>(40 * 50);
  } nest{tokamakArenaCreate(3, 1 << 20, 0)};
  for (int round = 0; round < 20; ++round)
    tokamakArenaForEach(
        nest.arena, 40,
        [](void *given, int64_t outer) {
          struct Row {
            Nest *nest;
            int64_t number;
          } row{static_cast<Nest *>(given), outer};
          tokamakArenaForEach(
              row.nest->arena, 50,
              [](void *given, int64_t inner) {
                auto &row = *static_cast<Row *>(given);
                ++row.nest->counts[row.number * 50 + inner];
              },
              &row);
        },
        &nest);
  for (const std::atomic<int> &count : nest.counts)
    EXPECT_EQ(count, 20);
  tokamakArenaDestroy(nest.arena);
}
