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

tokamak_tensor tensorOf(tokamak_type type, std::vector<int64_t> sizes, void *cells = nullptr,
                        int64_t capacity = 0) {
  tokamak_tensor tensor{};
  tensor.type = type;
  tensor.rank = static_cast<int32_t>(sizes.size());
  std::copy_n(sizes.begin(), std::min<size_t>(sizes.size(), TOKAMAK_MOST_DIMENSIONS), tensor.sizes);
  tensor.cells = cells;
  tensor.capacity = capacity;
  return tensor;
}

template <typename Given> std::string complaintAbout(const Given &given) {
  try {
    arrayOverCaller(given);
    return "no error";
  } catch (const Error &error) {
    return error.message();
  }
}
std::string errorOf(const tokamak_matrix &matrix) { return complaintAbout(matrix); }
std::string errorOf(const tokamak_tensor &tensor) { return complaintAbout(tensor); }

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

TEST(CallerArrays, mayHaveAnyTypeAndRank) {
  int8_t cells[24] = {};
  cells[23] = 7;
  ArrayReference array = arrayOverCaller(tensorOf(TOKAMAK_I8, {2, 1, 3, 4}, cells));
  EXPECT_EQ(array->elementType(), ElementType::I8);
  EXPECT_EQ(array->shape().text(), "2x1x3x4");
  EXPECT_EQ(array->cellsAs<int8_t>(), cells);
  float number = 3;
  EXPECT_EQ(arrayOverCaller(tensorOf(TOKAMAK_F32, {}, &number))->shape().rank(), 0);
  EXPECT_EQ(errorOf(tensorOf(TOKAMAK_F32, std::vector<int64_t>(9, 1), &number)),
            "an array has 0 to 8 dimensions, not 9");
  EXPECT_EQ(errorOf(tensorOf(static_cast<tokamak_type>(13), {1}, &number)),
            "13 is no type of cells");
  EXPECT_EQ(errorOf(tensorOf(TOKAMAK_F32, {1, -1, 2}, &number)), "1x-1x2 is no size of an array");
  EXPECT_EQ(errorOf(tensorOf(TOKAMAK_F32, {2})), "the cells are NULL");
}

TEST(CallerArrays, areSparseInSinglePrecision) {
  const int64_t offsets[] = {0, 1, 2};
  const int32_t columns[] = {2, 0};
  float cells[] = {5, 6};
  tokamak_tensor tensor = tensorOf(TOKAMAK_F32, {2, 3}, cells);
  tensor.offsets = offsets;
  tensor.indices = columns;
  ArrayReference array = arrayOverCaller(tensor);
  EXPECT_TRUE(array->isSparse());
  EXPECT_EQ(array->at(0, 2), 5);
  EXPECT_EQ(array->at(1, 0), 6);
  tensor.type = TOKAMAK_I32;
  EXPECT_EQ(errorOf(tensor), "only matrices of f64 and f32 may be sparse, not i32 of 2 dimensions");
}

TEST(CallerArrays, areWrittenToTensors) {
  ArrayPointer array = Array::create({2, 1, 2}, ElementType::I16);
  std::fill_n(array->mutableCellsAs<int16_t>(), 4, int16_t{3});
  tokamak_tensor result{};
  ArrayResult(array, result).give();
  EXPECT_EQ(result.type, TOKAMAK_I16);
  EXPECT_EQ(result.rank, 3);
  EXPECT_EQ(result.sizes[2], 2);
  EXPECT_EQ(static_cast<int16_t *>(result.cells)[3], 3);
  releaseArray(result);
  int16_t memory[4] = {};
  result.cells = memory;
  result.capacity = sizeof memory - 1;
  EXPECT_THROW(ArrayResult(array, result), Error);
  result.capacity = sizeof memory;
  ArrayResult(array, result).give();
  EXPECT_EQ(memory[3], 3);
  EXPECT_EQ(result.memory, nullptr);
}

TEST(CallerArrays, areWrittenToTheCallersMemory) {
  double cells[4] = {};
  tokamak_matrix result = matrixOf(0, 0, cells, 4);
  ArrayResult(Array::filled({2, 2}, 3), result).give();
  EXPECT_EQ(result.rows, 2);
  EXPECT_EQ(cells[3], 3);
  EXPECT_EQ(result.memory, nullptr);
  EXPECT_THROW(ArrayResult(Array::filled({2, 3}, 3), result), Error);
  EXPECT_EQ(result.columns, 3);
}

TEST(CallerArrays, areOwnedByResultsAlone) {
  ArrayReference shared = Array::filled({2, 2}, 3);
  tokamak_matrix result{};
  ArrayResult(shared, result).give();
  EXPECT_NE(result.cells, shared->data());
  result.cells[0] = 1;
  EXPECT_EQ(shared->at(0, 0), 3);
  releaseArray(result);
  EXPECT_EQ(result.cells, nullptr);
  releaseArray(result);
}

//===- calls ---------------------------------------------------------------------------------===//

namespace {

TokModelValue modelValue(const char *name, TokModelType type) {
  return {name, type, /*cells=*/0, /*rank=*/0, /*sizes=*/nullptr};
}

// A model of one function that prints its number and gives it back.
struct SampleModel {
  std::string image;
  TokModelValue number = modelValue("x", TOK_MODEL_DOUBLE);
  TokModelEntry entry{};
  TokNativeEntry native{"print", reinterpret_cast<void *>(&runPrint)};
  TokModel model{
      TOK_MODEL_VERSION, TOK_ABI_VERSION, "sample", &entry, 1, nullptr, 0, &native, 1, 0};

  SampleModel() {
    PlannedProgram program;
    program.image = newImage();
    FunctionBuilder(program.image, "main", 1, 1, 1).native("print", {0}, {}).finish({0});
    image = program.bytes();
    entry = {"f", image.data(), image.size(), &number, &number, 1, 1, nullptr, 0, 0, nullptr};
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
  TokModel model{
      TOK_MODEL_VERSION, TOK_ABI_VERSION, "sample", &entry, 1, nullptr, 0, nullptr, 0, 0};

  // `order[i]`: the number of the argument that result i is.
  ExchangingModel(std::vector<TokModelType> types, std::vector<int32_t> order) {
    static const char *const names[] = {"a", "b", "c"}, *const givenNames[] = {"x", "y", "z"};
    for (size_t i = 0; i < types.size(); ++i)
      parameters.push_back(modelValue(names[i], types[i]));
    for (size_t i = 0; i < order.size(); ++i)
      results.push_back(modelValue(givenNames[i], types[order[i]]));
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
             nullptr,
             0,
             0,
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

TEST(CompiledModel, checksTensors) {
  ExchangingModel sample({TOK_MODEL_TENSOR}, {0});
  const int64_t sizes[] = {-1, 2};
  for (TokModelValue *value : {&sample.parameters[0], &sample.results[0]}) {
    value->cells = TOK_F32;
    value->rank = 2;
  }
  sample.parameters[0].sizes = sizes;
  TokContext *context = tokamak_model_context_create();
  float cells[] = {1, 2, 3, 4, 5, 6};
  double doubles[] = {1, 2};
  tokamak_tensor result{};
  auto errorOf = [&](tokamak_tensor given) -> std::string {
    EXPECT_EQ(sample.call(context, {&given}, {&result}), 2);
    return tokamak_model_context_error(context);
  };
  tokamak_tensor given = tensorOf(TOKAMAK_F32, {3, 2}, cells);
  EXPECT_EQ(sample.call(context, {&given}, {&result}), 0);
  EXPECT_EQ(static_cast<float *>(result.cells)[5], 6);
  tokamak_model_tensor_free(&result);
  EXPECT_EQ(errorOf(tensorOf(TOKAMAK_F64, {1, 2}, doubles)),
            "sample: error: f: argument a: expected f32 of size ?x2, got f64 of size 1x2\n");
  EXPECT_EQ(errorOf(tensorOf(TOKAMAK_F32, {2, 3}, cells)),
            "sample: error: f: argument a: expected f32 of size ?x2, got f32 of size 2x3\n");
  EXPECT_EQ(errorOf(tensorOf(TOKAMAK_F32, {}, cells)),
            "sample: error: f: argument a: expected f32 of size ?x2, got f32\n");
  EXPECT_EQ(sample.call(context, {nullptr}, {&result}), 2);
  EXPECT_STREQ(tokamak_model_context_error(context),
               "sample: error: f: argument a: the tensor is NULL\n");
  tokamak_model_context_free(context);
}

TEST(CompiledModel, hasWeights) {
  SampleModel sample;
  PlannedProgram program;
  program.image = newImage();
  // The function gives its weights back; another makes them of those in the model.
  FunctionBuilder(program.image, "main", 1, 2, 3).finish({1, 2});
  FunctionBuilder(program.image, "prepare", 2, 2, 2).finish({1, 0});
  sample.image = program.bytes();
  const int64_t sizes[] = {1, 2};
  const double cells[] = {1, 2}, others[] = {3, 4};
  const TokModelWeight weights[] = {{TOK_F64, 2, sizes, cells}, {TOK_F64, 2, sizes, others}};
  const TokModelValue results[] = {modelValue("y", TOK_MODEL_MATRIX),
                                   modelValue("z", TOK_MODEL_MATRIX)};
  sample.entry = {"f",
                  sample.image.data(),
                  sample.image.size(),
                  &sample.number,
                  results,
                  1,
                  2,
                  weights,
                  2,
                  2,
                  nullptr};
  for (int call = 0; call < 2; ++call) {
    tokamak_matrix y{}, z{};
    uint64_t word = 0;
    void *into[] = {&y, &z};
    ASSERT_EQ(tokamak_model_call(&sample.model, 0, nullptr, &word, into), 0);
    EXPECT_EQ(y.cells[0], 3);
    EXPECT_EQ(z.cells[1], 2);
    tokamak_model_matrix_free(&y);
    tokamak_model_matrix_free(&z);
  }
}

TEST(CompiledModel, mayHaveNoContext) {
  tokamak_model_context_set_threads(nullptr, 1);
  tokamak_model_context_set_seed(nullptr, 1);
  tokamak_model_context_set_output(nullptr, nullptr, nullptr);
  tokamak_model_context_free(nullptr);
  tokamak_model_matrix_free(nullptr);
  tokamak_model_tensor_free(nullptr);
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
