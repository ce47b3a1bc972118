#include "api/tokamak.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Free {
  void operator()(tokamak_error *error) const { tokamak_error_free(error); }
  void operator()(tokamak_value *value) const { tokamak_value_free(value); }
  void operator()(tokamak_program *program) const { tokamak_program_free(program); }
};
using ErrorPointer = std::unique_ptr<tokamak_error, Free>;
using ValuePointer = std::unique_ptr<tokamak_value, Free>;
using ProgramPointer = std::unique_ptr<tokamak_program, Free>;

testing::AssertionResult succeeds(tokamak_error *error) {
  ErrorPointer owner(error);
  if (!error)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << tokamak_error_text(error);
}

ProgramPointer compiled(const char *text, tokamak_options options = {}) {
  options.size = sizeof options;
  options.cache = "off";
  tokamak_program *program = nullptr;
  EXPECT_TRUE(succeeds(tokamak_program_compile("script.dml", text, &options, &program)));
  return ProgramPointer(program);
}

ValuePointer called(tokamak_program *program, const char *name,
                    const std::vector<tokamak_argument> &arguments) {
  tokamak_function *function = nullptr;
  EXPECT_TRUE(succeeds(tokamak_program_function(program, name, &function)));
  tokamak_value *results = nullptr;
  EXPECT_TRUE(
      succeeds(tokamak_function_call(function, arguments.data(), arguments.size(), &results)));
  return ValuePointer(results);
}

ValuePointer arrayOver(const std::vector<double> &cells, std::vector<int64_t> sizes,
                       void (*release)(void *) = nullptr, void *owner = nullptr) {
  tokamak_value *value = nullptr;
  EXPECT_TRUE(succeeds(tokamak_value_of_array(TOKAMAK_F64, static_cast<int32_t>(sizes.size()),
                                              sizes.data(), cells.data(), release, owner, &value)));
  return ValuePointer(value);
}

void count(void *counter) { ++*static_cast<int *>(counter); }

TEST(CInterface, LendsArraysAndGivesThemBack) {
  ProgramPointer program =
      compiled("f = function(matrix[double] X) return (matrix[double] Y) { Y = X * 2 }");
  std::vector<double> cells = {1, 2, 3, 4};
  int released = 0;
  ValuePointer x = arrayOver(cells, {2, 2}, count, &released);
  ValuePointer results = called(program.get(), "f", {{nullptr, x.get()}});
  x.reset();
  EXPECT_EQ(released, 1);
  ASSERT_EQ(tokamak_value_count(results.get()), 1u);
  EXPECT_STREQ(tokamak_value_name(results.get(), 0), "Y");
  EXPECT_STREQ(tokamak_value_name(results.get(), 1), "");
  EXPECT_EQ(tokamak_value_element(results.get(), 1), nullptr);
  tokamak_array array;
  ASSERT_TRUE(succeeds(tokamak_value_array(tokamak_value_element(results.get(), 0), &array)));
  EXPECT_EQ(array.type, TOKAMAK_F64);
  EXPECT_EQ(array.rank, 2);
  EXPECT_EQ(array.sizes[1], 2);
  EXPECT_TRUE(array.is_unique);
  EXPECT_EQ(static_cast<const double *>(array.cells)[3], 8);
}

TEST(CInterface, GivesArraysBackWhereItFails) {
  std::vector<double> cells(4);
  int released = 0;
  const int64_t sizes[] = {2, 2};
  tokamak_value *value = nullptr;
  ErrorPointer error(
      tokamak_value_of_array(TOKAMAK_F64, 9, sizes, cells.data(), count, &released, &value));
  ASSERT_TRUE(error);
  EXPECT_STREQ(tokamak_error_message(error.get()), "an array has 0 to 8 dimensions, not 9");
  EXPECT_EQ(released, 1);
  EXPECT_EQ(value, nullptr);
}

TEST(CInterface, ResultsThatOthersSeeAreNotUnique) {
  ProgramPointer program =
      compiled("f = function(matrix[double] X) return (matrix[double] Y) { Y = X }");
  std::vector<double> cells = {1, 2, 3, 4};
  ValuePointer x = arrayOver(cells, {2, 2});
  ValuePointer results = called(program.get(), "f", {{nullptr, x.get()}});
  tokamak_array array;
  ASSERT_TRUE(succeeds(tokamak_value_array(tokamak_value_element(results.get(), 0), &array)));
  EXPECT_FALSE(array.is_unique);
  EXPECT_EQ(array.cells, cells.data()) << "nothing was copied";
}

TEST(CInterface, TakesAndGivesSparseMatrices) {
  ProgramPointer program =
      compiled("f = function(matrix[double] X) return (matrix[double] Y) { Y = X * 2 }");
  std::vector<int64_t> offsets(101, 0);
  for (int row = 0; row < 100; ++row)
    offsets[row + 1] = offsets[row] + 1;
  std::vector<int32_t> columns(100, 7);
  std::vector<double> cells(100, 1.5);
  tokamak_value *value = nullptr;
  ASSERT_TRUE(succeeds(tokamak_value_of_csr(TOKAMAK_F64, 100, 50, offsets.data(), columns.data(),
                                            cells.data(), nullptr, nullptr, &value)));
  ValuePointer x(value);
  ValuePointer results = called(program.get(), "f", {{"X", x.get()}});
  const tokamak_value *y = tokamak_value_element(results.get(), 0);
  tokamak_array stored, dense;
  ASSERT_TRUE(succeeds(tokamak_value_stored(y, &stored)));
  ASSERT_TRUE(stored.offsets);
  EXPECT_EQ(stored.offsets[100], 100);
  EXPECT_EQ(stored.indices[99], 7);
  EXPECT_EQ(static_cast<const double *>(stored.cells)[99], 3);
  ASSERT_TRUE(succeeds(tokamak_value_array(y, &dense)));
  EXPECT_EQ(dense.offsets, nullptr);
  EXPECT_EQ(static_cast<const double *>(dense.cells)[99 * 50 + 7], 3);
}

TEST(CInterface, RefusesSparseMatricesThatAreNone) {
  const double cells[] = {1, 2};
  auto message = [&](std::vector<int64_t> offsets, std::vector<int32_t> columns) {
    tokamak_value *value = nullptr;
    ErrorPointer error(tokamak_value_of_csr(TOKAMAK_F64, 2, 3, offsets.data(), columns.data(),
                                            cells, nullptr, nullptr, &value));
    return std::string(error ? tokamak_error_message(error.get()) : "");
  };
  EXPECT_EQ(message({1, 1, 2}, {0, 0}), "sparse matrix: the first offset is 0, not 1");
  EXPECT_EQ(message({0, 2, 1}, {0, 1}), "sparse matrix: row 1 ends before it begins");
  EXPECT_EQ(message({0, 1, 2}, {0, 3}), "sparse matrix: row 1 has an entry in column 3 of 3");
  EXPECT_EQ(message({0, 2, 2}, {1, 1}), "sparse matrix: the columns 1, 1 of row 0 don't ascend");
}

TEST(CInterface, TakesScalarsTextsAndLists) {
  ProgramPointer program =
      compiled("f = function(list[unknown] l, string t, boolean b, int i) return (string text) {\n"
               "  text = t + \" \" + b + \" \" + i + \" \" + as.scalar(l[\"x\"]) }");
  ValuePointer number(tokamak_value_of_double(0.5)), flag(tokamak_value_of_boolean(1)),
      integer(tokamak_value_of_integer(-3));
  const tokamak_value *elements[] = {number.get()};
  const char *names[] = {"x"};
  tokamak_value *made = nullptr;
  ASSERT_TRUE(succeeds(tokamak_value_of_list(1, elements, names, &made)));
  ValuePointer list(made);
  ASSERT_TRUE(succeeds(tokamak_value_of_text("word!", 4, &made)));
  ValuePointer word(made);
  ValuePointer results = called(
      program.get(), "f",
      {{nullptr, list.get()}, {nullptr, word.get()}, {nullptr, flag.get()}, {"i", integer.get()}});
  const char *text = nullptr;
  size_t bytes = 0;
  ASSERT_TRUE(succeeds(tokamak_value_text(tokamak_value_element(results.get(), 0), &text, &bytes)));
  EXPECT_EQ(std::string(text, bytes), "word TRUE -3 0.5");
  double wrong = 0;
  ErrorPointer error(tokamak_value_double(list.get(), &wrong));
  ASSERT_TRUE(error);
  EXPECT_STREQ(tokamak_error_message(error.get()), "expected a number, got a list");
}

TEST(CInterface, TakesAndGivesFrames) {
  ProgramPointer program =
      compiled("f = function(frame[unknown] F) return (frame[unknown] R) { R = rbind(F, F) }");
  const double numbers[] = {0.5, NAN};
  const int64_t integers[] = {3, 4};
  const uint8_t flags[] = {1, 0}, missing[] = {0, 1};
  const int64_t offsets[] = {0, 2, 2};
  const tokamak_column columns[] = {
      {sizeof(tokamak_column), "x", TOKAMAK_DOUBLE, numbers, nullptr, nullptr},
      {sizeof(tokamak_column), "n", TOKAMAK_INTEGER, integers, nullptr, nullptr},
      {sizeof(tokamak_column), "b", TOKAMAK_BOOLEAN, flags, nullptr, nullptr},
      {sizeof(tokamak_column), "t", TOKAMAK_TEXT, "ab", offsets, missing}};
  tokamak_value *made = nullptr;
  ASSERT_TRUE(succeeds(tokamak_value_of_frame(2, 4, columns, &made)));
  ValuePointer frame(made);
  ValuePointer results = called(program.get(), "f", {{nullptr, frame.get()}});
  const tokamak_value *both = tokamak_value_element(results.get(), 0);
  EXPECT_EQ(tokamak_frame_rows(both), 4);
  EXPECT_EQ(tokamak_frame_columns(both), 4u);
  tokamak_column column = {};
  column.size = sizeof column;
  ASSERT_TRUE(succeeds(tokamak_frame_column(both, 0, &column)));
  EXPECT_EQ(static_cast<const double *>(column.cells)[2], 0.5);
  ASSERT_TRUE(succeeds(tokamak_frame_column(both, 1, &column)));
  EXPECT_STREQ(column.name, "n");
  EXPECT_EQ(static_cast<const int64_t *>(column.cells)[3], 4);
  ASSERT_TRUE(succeeds(tokamak_frame_column(both, 2, &column)));
  EXPECT_EQ(static_cast<const uint8_t *>(column.cells)[2], 1);
  ASSERT_TRUE(succeeds(tokamak_frame_column(both, 3, &column)));
  EXPECT_EQ(column.kind, TOKAMAK_TEXT);
  EXPECT_EQ(std::string(static_cast<const char *>(column.cells) + column.offsets[2], 2), "ab");
  EXPECT_TRUE(column.missing[3]);
  ErrorPointer error(tokamak_frame_column(both, 4, &column));
  EXPECT_TRUE(error);
}

TEST(CInterface, SaysWhatIsWrongAndWhere) {
  tokamak_program *program = nullptr;
  ErrorPointer error(tokamak_program_compile("bad.dml", "x = 1\ny = (x", nullptr, &program));
  ASSERT_TRUE(error);
  EXPECT_EQ(tokamak_error_status(error.get()), TOKAMAK_REJECTED);
  EXPECT_STREQ(tokamak_error_file(error.get()), "bad.dml");
  EXPECT_EQ(tokamak_error_line(error.get()), 2);
  EXPECT_NE(std::string(tokamak_error_text(error.get())).find("    y = (x\n"), std::string::npos);
  error.reset(tokamak_program_compile_file("/no/such.dml", nullptr, &program));
  ASSERT_TRUE(error);

  ProgramPointer good = compiled("f = function(matrix[double] X) return (double s) {\n"
                                 "  if (sum(X) > 0) stop(\"positive\")\n  s = 0 }");
  tokamak_function *function = nullptr;
  ASSERT_TRUE(succeeds(tokamak_program_function(good.get(), "f", &function)));
  std::vector<double> cells = {1};
  ValuePointer x = arrayOver(cells, {1, 1});
  tokamak_value *results = nullptr;
  tokamak_argument argument = {nullptr, x.get()};
  error.reset(tokamak_function_call(function, &argument, 1, &results));
  ASSERT_TRUE(error);
  EXPECT_EQ(tokamak_error_status(error.get()), TOKAMAK_FAILED);
  EXPECT_EQ(tokamak_error_line(error.get()), 2);
  EXPECT_EQ(results, nullptr);
}

TEST(CInterface, DescribesFunctions) {
  ProgramPointer program = compiled("# Adds.\nf = function(matrix[double] X, int n = 3) return "
                                    "(matrix[double] Y, double s) { Y = X; s = n }");
  ASSERT_EQ(tokamak_program_function_count(program.get()), 1u);
  tokamak_function *f = tokamak_program_function_at(program.get(), 0);
  EXPECT_EQ(tokamak_program_function_at(program.get(), 1), nullptr);
  EXPECT_STREQ(tokamak_function_name(f), "f");
  EXPECT_STREQ(tokamak_function_comment(f), "Adds.");
  EXPECT_STREQ(tokamak_function_signature(f),
               "f(X: matrix[double], n: int = 3) -> (Y: matrix[double], s: double)");
  ASSERT_EQ(tokamak_function_parameter_count(f), 2u);
  EXPECT_EQ(tokamak_function_parameter(f, 0).default_text, nullptr);
  EXPECT_STREQ(tokamak_function_parameter(f, 1).type, "int");
  EXPECT_STREQ(tokamak_function_parameter(f, 1).default_text, "3");
  ASSERT_EQ(tokamak_function_result_count(f), 2u);
  EXPECT_STREQ(tokamak_function_result(f, 1).name, "s");
}

TEST(CInterface, PassesOutputOn) {
  std::string printed;
  tokamak_options options = {};
  options.context = &printed;
  options.output = [](void *context, const char *text, size_t bytes) {
    static_cast<std::string *>(context)->append(text, bytes);
  };
  ProgramPointer program = compiled("print(\"k \" + $k)", options);
  const char *names[] = {"k"}, *texts[] = {"5"};
  EXPECT_TRUE(succeeds(tokamak_program_run(program.get(), 1, names, texts)));
  EXPECT_EQ(printed, "k 5\n");
}

TEST(CInterface, TakesOptionsOfOlderPrograms) {
  struct OlderOptions {
    size_t size;
    int32_t threads;
    tokamak_precision precision;
  } older = {sizeof older, 1, TOKAMAK_SINGLE_PRECISION};
  tokamak_program *program = nullptr;
  ASSERT_TRUE(succeeds(tokamak_program_compile(
      "script.dml", "f = function(matrix[double] X) return (matrix[double] Y) { Y = X + 1 }",
      reinterpret_cast<const tokamak_options *>(&older), &program)));
  ProgramPointer owner(program);
  std::vector<double> cells = {1};
  ValuePointer x = arrayOver(cells, {1, 1});
  ValuePointer results = called(program, "f", {{nullptr, x.get()}});
  tokamak_array array;
  ASSERT_TRUE(succeeds(tokamak_value_array(tokamak_value_element(results.get(), 0), &array)));
  EXPECT_EQ(array.type, TOKAMAK_F32);
}

TEST(CInterface, CallsModels) {
  tokamak_options options = {};
  options.size = sizeof options;
  options.cache = "off";
  tokamak_program *opened = nullptr;
  ASSERT_TRUE(succeeds(tokamak_program_compile_file(
      TOKAMAK_SOURCE_FOLDER "/examples/models/digits.onnx", &options, &opened)));
  ProgramPointer program(opened);
  tokamak_function *main = tokamak_program_function_at(program.get(), 0);
  ASSERT_TRUE(main);
  EXPECT_STREQ(tokamak_function_signature(main),
               "main(image: float [digits, 1, 8, 8]) -> (scores: float [digits, 10])");
  std::vector<double> cells(3 * 64, 0.5); // become floats
  ValuePointer images = arrayOver(cells, {3, 1, 8, 8});
  ValuePointer results = called(program.get(), "main", {{"image", images.get()}});
  tokamak_array array;
  ASSERT_TRUE(succeeds(tokamak_value_array(tokamak_value_element(results.get(), 0), &array)));
  EXPECT_EQ(array.type, TOKAMAK_F32);
  EXPECT_EQ(array.rank, 2);
  EXPECT_EQ(array.sizes[0], 3);
  const auto *scores = static_cast<const float *>(array.cells);
  for (int i = 0; i < 10; ++i)
    EXPECT_NEAR(scores[i], scores[20 + i], 1e-4) << "the images are the same";
  EXPECT_GT(std::abs(scores[0] - scores[1]), 1e-3);

  ValuePointer wrong = arrayOver(cells, {1, 3, 8, 8});
  const tokamak_argument argument = {nullptr, wrong.get()};
  tokamak_value *none = nullptr;
  ErrorPointer error(tokamak_function_call(main, &argument, 1, &none));
  ASSERT_TRUE(error);
  EXPECT_EQ(tokamak_error_status(error.get()), TOKAMAK_REJECTED);
  EXPECT_STREQ(tokamak_error_message(error.get()),
               "input 'image' is float [digits, 1, 8, 8], got an array of size 1x3x8x8");
  error.reset(tokamak_program_run(program.get(), 0, nullptr, nullptr));
  EXPECT_TRUE(error);
}

TEST(CInterface, CallsModelsOfBytes) {
  std::ifstream file(TOKAMAK_SOURCE_FOLDER "/examples/models/digits.onnx", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(bytes.empty());
  tokamak_options options = {};
  options.size = sizeof options;
  options.cache = "off";
  tokamak_program *opened = nullptr;
  ASSERT_TRUE(succeeds(
      tokamak_program_compile_model("digits", bytes.data(), bytes.size(), &options, &opened)));
  ProgramPointer program(opened);
  std::ranges::fill(bytes, 'x'); // they were copied
  std::vector<float> image(64, 0.5F);
  const int64_t sizes[] = {1, 1, 8, 8};
  tokamak_value *made = nullptr;
  ASSERT_TRUE(succeeds(
      tokamak_value_of_array(TOKAMAK_F32, 4, sizes, image.data(), nullptr, nullptr, &made)));
  ValuePointer held(made);
  ValuePointer results = called(program.get(), "main", {{nullptr, held.get()}});
  tokamak_array array;
  ASSERT_TRUE(succeeds(tokamak_value_array(tokamak_value_element(results.get(), 0), &array)));
  EXPECT_EQ(array.sizes[1], 10);

  tokamak_program *none = nullptr;
  ErrorPointer error(
      tokamak_program_compile_model("broken", bytes.data(), bytes.size(), &options, &none));
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(tokamak_error_message(error.get())).find("broken: it is no ONNX model"),
            std::string::npos)
      << tokamak_error_message(error.get());
}

TEST(CInterface, StopsCallsOnRequest) {
  ProgramPointer program =
      compiled("f = function(int n) return (int s) { s = 0\n  while (n > 0) s = s + 1 }");
  tokamak_function *function = nullptr;
  ASSERT_TRUE(succeeds(tokamak_program_function(program.get(), "f", &function)));
  ValuePointer one(tokamak_value_of_integer(1)), zero(tokamak_value_of_integer(0));
  tokamak_argument argument = {nullptr, one.get()};
  tokamak_value *results = nullptr;
  // Before the call, which is then stopped at once; the next one is not.
  tokamak_interrupt();
  ErrorPointer error(tokamak_function_call(function, &argument, 1, &results));
  ASSERT_TRUE(error);
  EXPECT_EQ(tokamak_error_status(error.get()), TOKAMAK_INTERRUPTED);
  argument.value = zero.get();
  EXPECT_TRUE(succeeds(tokamak_function_call(function, &argument, 1, &results)));
  tokamak_value_free(results);
  argument.value = one.get();
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    tokamak_interrupt();
  });
  error.reset(tokamak_function_call(function, &argument, 1, &results));
  later.join();
  ASSERT_TRUE(error);
  EXPECT_EQ(tokamak_error_status(error.get()), TOKAMAK_INTERRUPTED);
}

// What is written by one that repeats it for ever, and how often.
struct Written {
  int cause = 0;
  std::atomic<int> lines = 0, most = 1'000'000'000;
};

static void write(void *context, const char *, size_t) {
  auto *written = static_cast<Written *>(context);
  if (++written->lines == written->most)
    EXPECT_NE(tokamak_stop_call(&written->cause), 0);
}

// Functions that are recursive run on stacks of their own, and iterations of parallel loops on several threads.
TEST(CInterface, StopsOneCallOfSeveral) {
  EXPECT_EQ(tokamak_stop_call(nullptr), 0) << "there is no call";
  const char *text = "deep = function(int n) return (int s) { s = n\n"
                     "  while (n >= 0) print(n)\n  if (n < 0) s = deep(n + 1) }\n"
                     "wide = function(int n) return (int s) { s = 0\n"
                     "  parfor (i in 1:1000000, check=0) { print(i)\n s = i } }";
  auto compiledWith = [&](Written &written) {
    tokamak_options options = {};
    options.threads = 4;
    options.output = write;
    options.context = &written;
    return compiled(text, options);
  };
  auto call = [](tokamak_program *program, const char *name) {
    tokamak_function *function = nullptr;
    EXPECT_TRUE(succeeds(tokamak_program_function(program, name, &function)));
    ValuePointer one(tokamak_value_of_integer(1));
    tokamak_argument argument = {nullptr, one.get()};
    tokamak_value *results = nullptr;
    ErrorPointer error(tokamak_function_call(function, &argument, 1, &results));
    EXPECT_EQ(results, nullptr);
    EXPECT_TRUE(error);
    return error;
  };
  Written others;
  ProgramPointer other = compiledWith(others);
  std::thread goesOn([&] {
    ErrorPointer error = call(other.get(), "deep");
    EXPECT_EQ(tokamak_error_status(error.get()), TOKAMAK_INTERRUPTED);
    EXPECT_EQ(tokamak_error_cause(error.get()), &others.cause);
  });
  while (others.lines == 0)
    std::this_thread::yield();
  for (const char *name : {"deep", "wide"}) {
    Written written;
    written.most = 3;
    ProgramPointer program = compiledWith(written);
    ErrorPointer error = call(program.get(), name);
    EXPECT_EQ(tokamak_error_status(error.get()), TOKAMAK_INTERRUPTED);
    EXPECT_EQ(tokamak_error_cause(error.get()), &written.cause);
    EXPECT_EQ(written.lines, 3);
  }
  int lines = others.lines;
  while (others.lines < lines + 2)
    std::this_thread::yield();
  others.most = others.lines + 1000;
  goesOn.join();
}

TEST(CInterface, ListsTheLibrary) {
  size_t names = 0;
  bool hasKmeans = false;
  while (const char *name = tokamak_library_name(names)) {
    hasKmeans |= std::string(name) == "kmeans";
    ++names;
  }
  EXPECT_GT(names, 100u);
  EXPECT_TRUE(hasKmeans);
}

} // namespace
