#include "runtime/model/CompiledModel.h"

#include "base/PlaceText.h"
#include "runtime/image/Executor.h"
#include "runtime/model/CallerArrays.h"
#include "runtime/model/LoadedEntry.h"
#include "runtime/parallel/ParallelLibrary.h"
#include "runtime/parallel/TileScheduler.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <new>
#include <ostream>
#include <streambuf>
#include <variant>

using namespace tokamak;
using namespace tokamak::runtime;

namespace {

// Passes what is printed on: to a function of the caller's, or to the C library's standard output, where it stands in
// order with what the caller prints.
class PassedOn : public std::streambuf {
public:
  void to(TokOutput output, void *owner) {
    output_ = output;
    owner_ = owner;
  }

protected:
  std::streamsize xsputn(const char *text, std::streamsize bytes) override {
    if (output_)
      output_(owner_, text, static_cast<size_t>(bytes));
    else
      std::fwrite(text, 1, static_cast<size_t>(bytes), stdout);
    return bytes;
  }
  int_type overflow(int_type next) override {
    char letter = traits_type::to_char_type(next);
    if (!traits_type::eq_int_type(next, traits_type::eof()))
      xsputn(&letter, 1);
    return traits_type::not_eof(next);
  }

private:
  TokOutput output_ = nullptr;
  void *owner_ = nullptr;
};

// Places in the function that passes the arguments on are in no file of the user (frontend/dml/LateCall.cpp).
bool isOfUser(const SourcePlace &place) {
  return place.isKnown() && !place.file.starts_with("eval(\"");
}

std::string textOf(const Error &error, const char *model) {
  bool isPlaced = isOfUser(error.place());
  std::string text = fmt::format(
      "{}: {}{}\n", isPlaced ? placeText(error.place()) : model,
      error.kind() == ErrorKind::Internal ? "internal error: " : "error: ", error.message());
  for (const SourcePlace &caller : error.callStack())
    if (isOfUser(caller))
      text += fmt::format("  {}: note: called from here\n", placeText(caller));
  for (const std::string &note : error.notes())
    text += fmt::format("  note: {}\n", note);
  return text;
}

} // namespace

// So that its threads are linked in.
[[gnu::used]] static void *(*const threadsOfModels)(int, size_t, int64_t) = &tokamakArenaCreate;

struct TokContext {
  int threads = 0;
  int64_t seed = -1;
  std::unique_ptr<Scheduler> scheduler; // made by the first call
  PassedOn passedOn;
  std::ostream output{&passedOn};
  std::string error; // storage of `shownError`, unless that is a text that takes no memory
  const char *shownError = "";
  SourcePlace place;
  std::deque<std::string> texts; // results of the last call
};

//===- values --------------------------------------------------------------------------------===//

// A tensor has the type, the rank and perhaps the sizes that the function was compiled for.
static void checkTensor(const TokModelValue &expected, const Array &given) {
  bool suits = static_cast<uint64_t>(given.elementType()) == expected.cells &&
               static_cast<uint64_t>(given.shape().rank()) == expected.rank;
  for (uint64_t i = 0; suits && expected.sizes && i < expected.rank; ++i)
    suits = expected.sizes[i] < 0 || expected.sizes[i] == given.shape()[static_cast<int>(i)];
  if (suits)
    return;
  std::string sizes;
  for (uint64_t i = 0; i < expected.rank; ++i)
    sizes += fmt::format(
        "{}{}", i == 0 ? " of size " : "x",
        expected.sizes && expected.sizes[i] >= 0 ? std::to_string(expected.sizes[i]) : "?");
  throw Error(fmt::format("expected {}{}, got {}{}",
                          nameOf(static_cast<ElementType>(expected.cells)), sizes,
                          nameOf(given.elementType()),
                          given.shape().rank() == 0 ? "" : " of size " + given.shape().text()));
}

static Value argumentOf(const TokModelValue &parameter, uint64_t word) {
  const auto *address = reinterpret_cast<const void *>(word);
  switch (parameter.type) {
  case TOK_MODEL_DOUBLE:
    return std::bit_cast<double>(word);
  case TOK_MODEL_INTEGER:
    return static_cast<int64_t>(word);
  case TOK_MODEL_BOOLEAN:
    return static_cast<int32_t>(word) != 0;
  case TOK_MODEL_TEXT:
    if (!address)
      throw Error("the text is NULL");
    return std::string(static_cast<const char *>(address));
  case TOK_MODEL_TENSOR: {
    if (!address)
      throw Error("the tensor is NULL");
    ArrayReference array = arrayOverCaller(*static_cast<const tokamak_tensor *>(address));
    checkTensor(parameter, *array);
    return array;
  }
  default:
    if (!address)
      throw Error("the matrix is NULL");
    return arrayOverCaller(*static_cast<const tokamak_matrix *>(address));
  }
}

// A result that is ready to be written. Everything that can fail happens before the first one is.
using ReadyResult = std::variant<double, int64_t, int32_t, const char *, ArrayResult>;

// A number stands for a matrix of one cell.
static ArrayReference arrayOf(Value value) {
  return value.isArray() ? ArrayReference(std::move(value.array()))
                         : Array::filled({1, 1}, value.asDouble());
}

static ReadyResult readyResult(const TokModelValue &result, Value value, void *into,
                               TokContext &context) {
  switch (result.type) {
  case TOK_MODEL_DOUBLE:
    return value.asDouble();
  case TOK_MODEL_INTEGER:
    return value.asInteger();
  case TOK_MODEL_BOOLEAN:
    return int32_t{value.asBoolean()};
  case TOK_MODEL_TEXT:
    return context.texts.emplace_back(value.asText()).c_str();
  case TOK_MODEL_TENSOR:
    return ArrayResult(
        Array::withElementType(arrayOf(std::move(value)), static_cast<ElementType>(result.cells)),
        *static_cast<tokamak_tensor *>(into));
  default:
    return ArrayResult(arrayOf(std::move(value)), *static_cast<tokamak_matrix *>(into));
  }
}

static size_t bytesAt(const TokModelValue &result) {
  switch (result.type) {
  case TOK_MODEL_DOUBLE:
  case TOK_MODEL_INTEGER:
    return sizeof(int64_t);
  case TOK_MODEL_BOOLEAN:
    return sizeof(int32_t);
  case TOK_MODEL_TEXT:
    return sizeof(const char *);
  case TOK_MODEL_TENSOR:
    return sizeof(tokamak_tensor);
  default:
    return sizeof(tokamak_matrix);
  }
}

namespace {

// The memory of the caller's that results are written to.
class Destinations {
public:
  explicit Destinations(const TokModelEntry &entry) : entry_(entry) {}

  // Throws Error if another result is written there, too.
  void add(uint64_t result, const Extent &memory) {
    for (const auto &[other, taken] : taken_)
      if (other != result && taken.overlaps(memory))
        throw Error(
            fmt::format("{}: the memory that the caller gave for the results {} and {} overlaps",
                        entry_.name, entry_.results[other].name, entry_.results[result].name));
    taken_.emplace_back(result, memory);
  }
  bool overlap(const Extent &memory) const {
    return std::ranges::any_of(taken_,
                               [&](const auto &each) { return each.second.overlaps(memory); });
  }

private:
  const TokModelEntry &entry_;
  std::vector<std::pair<uint64_t, Extent>> taken_; // by number of the result
};

} // namespace

static void giveResults(const TokModelEntry &entry, std::vector<Value> made, void *const *results,
                        Destinations destinations, TokContext &context) {
  if (made.size() < entry.resultCount)
    internalError("a result is missing");
  std::vector<ReadyResult> ready;
  for (uint64_t i = 0; i < entry.resultCount; ++i)
    try {
      ready.push_back(readyResult(entry.results[i], std::move(made[i]), results[i], context));
    } catch (const Error &error) {
      throw Error(
          fmt::format("{}: result {}: {}", entry.name, entry.results[i].name, error.message()),
          error.kind());
    }
  for (uint64_t i = 0; i < entry.resultCount; ++i)
    if (auto *array = std::get_if<ArrayResult>(&ready[i]))
      destinations.add(i, array->destination());
  // A result that is an argument, or a part of one, is read while others may already have been written over it.
  for (ReadyResult &result : ready)
    if (auto *array = std::get_if<ArrayResult>(&result);
        array && destinations.overlap(array->source()))
      array->copyCells();
  for (uint64_t i = 0; i < entry.resultCount; ++i)
    std::visit(
        [&]<typename Result>(Result &result) {
          if constexpr (std::is_same_v<Result, ArrayResult>)
            result.give();
          else
            *static_cast<Result *>(results[i]) = result;
        },
        ready[i]);
}

// What the program gives: one value, or a list of several.
static std::vector<Value> run(const LoadedEntry &entry, std::vector<Value> arguments,
                              TokContext &context) {
  if (!context.scheduler)
    context.scheduler = std::make_unique<Scheduler>(context.threads);
  PlanTable plans(entry.program);
  ExecutionContext execution;
  execution.output = &context.output;
  execution.scheduler = context.scheduler.get();
  execution.seed = context.seed;
  arguments.insert(arguments.end(), entry.weights.begin(), entry.weights.end());
  std::vector<Value> results(entry.program.image.functions.front().resultCount);
  Executor(entry.program.image, &plans, execution).call(0, arguments, results);
  if (results.size() == 1 && results.front().isList())
    return results.front().list()->elements;
  return results;
}

// `keepsTexts`: the context outlives the call.
static void call(const TokModel &model, TokModelEntry &entry, TokContext &context, bool keepsTexts,
                 const uint64_t *arguments, void *const *results, int32_t &status) {
  status = TOKAMAK_CALL_REJECTED;
  const LoadedEntry &program = LoadedEntry::of(model, entry);
  std::vector<Value> values;
  for (uint64_t i = 0; i < entry.parameterCount; ++i)
    try {
      values.push_back(argumentOf(entry.parameters[i], arguments[i]));
    } catch (const Error &error) {
      throw Error(
          fmt::format("{}: argument {}: {}", entry.name, entry.parameters[i].name, error.message()),
          error.kind());
    }
  Destinations destinations(entry);
  for (uint64_t i = 0; i < entry.resultCount; ++i) {
    const TokModelValue &result = entry.results[i];
    if (!results[i])
      throw Error(fmt::format("{}: the address of the result {} is NULL", entry.name, result.name));
    if (result.type == TOK_MODEL_TEXT && !keepsTexts)
      throw Error(fmt::format("{}: the text {} is kept by a context, and the context is NULL",
                              entry.name, result.name));
    destinations.add(i, Extent::of(results[i], bytesAt(result)));
  }
  // Only now: what the last call left may have been an argument.
  context.shownError = "";
  context.place = {};
  context.texts.clear();
  status = TOKAMAK_CALL_FAILED;
  giveResults(entry, run(program, std::move(values), context), results, std::move(destinations),
              context);
  status = TOKAMAK_CALL_SUCCEEDED;
}

// Without a context nobody reads the text.
template <typename MakeText>
static void keepError(TokContext *context, const SourcePlace &place, const MakeText &text) {
  if (!context)
    return;
  try {
    context->place = place;
    context->error = text();
    context->shownError = context->error.c_str();
  } catch (...) {
    context->shownError = "error: there is not enough memory\n";
  }
}

//===- the interface -------------------------------------------------------------------------===//

// Exceptions don't cross the border to C.
int32_t tokamak_model_call(const TokModel *model, uint64_t number, TokContext *context,
                           const uint64_t *arguments, void *const *results) {
  int32_t status = TOKAMAK_CALL_FAILED;
  try {
    std::unique_ptr<TokContext> own; // without a context: no settings
    if (!context)
      own = std::make_unique<TokContext>();
    call(*model, model->entries[number], context ? *context : *own, context != nullptr, arguments,
         results, status);
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal)
      status = TOKAMAK_CALL_INTERNAL;
    keepError(context, isOfUser(error.place()) ? error.place() : SourcePlace(),
              [&] { return textOf(error, model->name); });
  } catch (const std::bad_alloc &) {
    keepError(context, {},
              [&] { return fmt::format("{}: error: there is not enough memory\n", model->name); });
  } catch (const std::exception &error) {
    status = TOKAMAK_CALL_INTERNAL;
    keepError(context, {},
              [&] { return fmt::format("{}: internal error: {}\n", model->name, error.what()); });
  } catch (...) {
    status = TOKAMAK_CALL_INTERNAL;
    keepError(context, {}, [&] {
      return fmt::format("{}: internal error: an exception of an unknown type\n", model->name);
    });
  }
  return status;
}

TokContext *tokamak_model_context_create() {
  try {
    return new TokContext();
  } catch (...) {
    return nullptr;
  }
}
void tokamak_model_context_free(TokContext *context) { delete context; }
void tokamak_model_context_set_threads(TokContext *context, int32_t threads) {
  if (!context)
    return;
  context->threads = threads;
  context->scheduler.reset();
}
void tokamak_model_context_set_seed(TokContext *context, int64_t seed) {
  if (context)
    context->seed = seed < 0 ? -1 : seed;
}
void tokamak_model_context_set_output(TokContext *context, TokOutput output, void *owner) {
  if (context)
    context->passedOn.to(output, owner);
}
const char *tokamak_model_context_error(const TokContext *context) {
  return context ? context->shownError : "";
}
const char *tokamak_model_context_error_file(const TokContext *context) {
  return context ? context->place.file.c_str() : "";
}
int32_t tokamak_model_context_error_line(const TokContext *context) {
  return context ? context->place.line : 0;
}
int32_t tokamak_model_context_error_column(const TokContext *context) {
  return context ? context->place.column : 0;
}
void tokamak_model_matrix_free(tokamak_matrix *matrix) {
  if (matrix)
    releaseArray(*matrix);
}
void tokamak_model_tensor_free(tokamak_tensor *tensor) {
  if (tensor)
    releaseArray(*tensor);
}
