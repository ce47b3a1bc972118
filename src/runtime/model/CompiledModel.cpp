#include "runtime/model/CompiledModel.h"

#include "base/PlaceText.h"
#include "runtime/image/Executor.h"
#include "runtime/image/PlannedProgram.h"
#include "runtime/model/CallerArrays.h"
#include "runtime/parallel/ParallelLibrary.h"
#include "runtime/parallel/TileScheduler.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <new>
#include <ostream>
#include <streambuf>

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
  std::string error;
  SourcePlace place;
  std::deque<std::string> texts; // results of the last call
};

//===- the model -----------------------------------------------------------------------------===//

static Native nativeOf(const TokNativeEntry &entry) {
  const NativeRow *row = findNativeRow(entry.name);
  if (!row)
    internalError(fmt::format("the runtime has no native {}", entry.name));
  return {*row, reinterpret_cast<NativeFunction *>(entry.function)};
}

namespace {

// A program that was read, with the natives that its images refer to.
struct LoadedEntry {
  std::deque<Native> natives;
  PlannedProgram program;

  LoadedEntry(const TokModel &model, const TokModelEntry &entry) {
    for (const TokNativeEntry &native : std::span(model.natives, model.nativeCount))
      natives.push_back(nativeOf(native));
    auto kernel = [&](const std::string &name) -> KernelCode {
      for (const TokKernelEntry &each : std::span(model.kernels, model.kernelCount))
        if (name == each.name)
          return {each.kernel, each.merge};
      return {};
    };
    auto native = [&](std::string_view name) -> const Native * {
      for (const Native &each : natives)
        if (each.row.name == name)
          return &each;
      return nullptr;
    };
    program = PlannedProgram::from({entry.image, entry.imageBytes}, {kernel, native});
  }
};

} // namespace

// It is kept for as long as the process runs, as the model is.
static const LoadedEntry &loaded(const TokModel &model, TokModelEntry &entry) {
  static std::mutex mutex;
  std::atomic_ref<void *> known(entry.loaded);
  if (void *ready = known.load(std::memory_order_acquire))
    return *static_cast<LoadedEntry *>(ready);
  std::lock_guard lock(mutex);
  if (!known.load(std::memory_order_relaxed)) {
    if (model.version != TOK_MODEL_VERSION || model.kernelVersion != TOK_ABI_VERSION)
      internalError("it was compiled for another version of the runtime that it is linked with");
    known.store(new LoadedEntry(model, entry), std::memory_order_release);
  }
  return *static_cast<LoadedEntry *>(known.load(std::memory_order_relaxed));
}

//===- values --------------------------------------------------------------------------------===//

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
  default:
    if (!address)
      throw Error("the matrix is NULL");
    return arrayOverCaller(*static_cast<const tokamak_matrix *>(address));
  }
}

static void giveResult(const TokModelValue &result, Value value, void *into, TokContext &context) {
  switch (result.type) {
  case TOK_MODEL_DOUBLE:
    *static_cast<double *>(into) = value.asDouble();
    return;
  case TOK_MODEL_INTEGER:
    *static_cast<int64_t *>(into) = value.asInteger();
    return;
  case TOK_MODEL_BOOLEAN:
    *static_cast<int32_t *>(into) = value.asBoolean() ? 1 : 0;
    return;
  case TOK_MODEL_TEXT:
    *static_cast<const char **>(into) = context.texts.emplace_back(value.asText()).c_str();
    return;
  default:
    giveArray(value.isArray() ? std::move(value.array()) : Array::filled({1, 1}, value.asDouble()),
              *static_cast<tokamak_matrix *>(into));
  }
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
  std::vector<Value> results(entry.program.image.functions.front().resultCount);
  Executor(entry.program.image, &plans, execution).call(0, arguments, results);
  if (results.size() == 1 && results.front().isList())
    return results.front().list()->elements;
  return results;
}

static void call(const TokModel &model, TokModelEntry &entry, TokContext &context,
                 const uint64_t *arguments, void *const *results, int32_t &status) {
  status = TOKAMAK_CALL_REJECTED;
  const LoadedEntry &program = loaded(model, entry);
  std::vector<Value> values;
  for (uint64_t i = 0; i < entry.parameterCount; ++i)
    try {
      values.push_back(argumentOf(entry.parameters[i], arguments[i]));
    } catch (const Error &error) {
      throw Error(
          fmt::format("{}: argument {}: {}", entry.name, entry.parameters[i].name, error.message()),
          error.kind());
    }
  for (uint64_t i = 0; i < entry.resultCount; ++i)
    if (!results[i])
      throw Error(fmt::format("{}: the address of the result {} is NULL", entry.name,
                              entry.results[i].name));
  status = TOKAMAK_CALL_FAILED;
  std::vector<Value> made = run(program, std::move(values), context);
  if (made.size() < entry.resultCount)
    internalError("a result is missing");
  for (uint64_t i = 0; i < entry.resultCount; ++i)
    try {
      giveResult(entry.results[i], std::move(made[i]), results[i], context);
    } catch (const Error &error) {
      throw Error(
          fmt::format("{}: result {}: {}", entry.name, entry.results[i].name, error.message()),
          error.kind());
    }
  status = TOKAMAK_CALL_SUCCEEDED;
}

//===- the interface -------------------------------------------------------------------------===//

int32_t tokamak_model_call(const TokModel *model, uint64_t number, TokContext *context,
                           const uint64_t *arguments, void *const *results) {
  TokContext own; // without a context: no settings, and nobody reads the text of errors
  TokContext &used = context ? *context : own;
  int32_t status = TOKAMAK_CALL_INTERNAL;
  used.error.clear();
  used.place = {};
  used.texts.clear();
  try {
    call(*model, model->entries[number], used, arguments, results, status);
    return status;
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal)
      status = TOKAMAK_CALL_INTERNAL;
    used.error = textOf(error, model->name);
    if (isOfUser(error.place()))
      used.place = error.place();
  } catch (const std::bad_alloc &) {
    used.error = fmt::format("{}: error: there is not enough memory\n", model->name);
  } catch (const std::exception &error) {
    status = TOKAMAK_CALL_INTERNAL;
    used.error = fmt::format("{}: internal error: {}\n", model->name, error.what());
  }
  return status;
}

TokContext *tokamak_model_context_create() { return new (std::nothrow) TokContext(); }
void tokamak_model_context_free(TokContext *context) { delete context; }
void tokamak_model_context_set_threads(TokContext *context, int32_t threads) {
  context->threads = threads;
  context->scheduler.reset();
}
void tokamak_model_context_set_seed(TokContext *context, int64_t seed) {
  context->seed = seed < 0 ? -1 : seed;
}
void tokamak_model_context_set_output(TokContext *context, TokOutput output, void *owner) {
  context->passedOn.to(output, owner);
}
const char *tokamak_model_context_error(const TokContext *context) {
  return context->error.c_str();
}
const char *tokamak_model_context_error_file(const TokContext *context) {
  return context->place.file.c_str();
}
int32_t tokamak_model_context_error_line(const TokContext *context) { return context->place.line; }
int32_t tokamak_model_context_error_column(const TokContext *context) {
  return context->place.column;
}
void tokamak_model_matrix_free(tokamak_matrix *matrix) { releaseArray(*matrix); }
