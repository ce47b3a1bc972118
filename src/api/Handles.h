// What the opaque types of tokamak.h are, and how exceptions become its errors.
//
//   return guarded(program, Stage::Running, [&] { *value = newValue(function.call(arguments)); });
#ifndef TOKAMAK_API_HANDLES_H
#define TOKAMAK_API_HANDLES_H

#include "api/Program.h"
#include "api/tokamak.h"

#include "base/Interrupt.h"
#include "base/MemoryErrors.h"
#include "runtime/values/Frame.h"

#include <atomic>
#include <deque>
#include <map>

struct tokamak_error {
  tokamak_status status;
  std::string message, text, file;
  int32_t line = 0, column = 0;
  void *cause = nullptr;
};

// The columns of a frame as they are shown.
struct ShownFrame {
  struct Column {
    std::string name, bytes; // the cells of one of texts
    std::vector<int64_t> offsets;
    std::vector<uint8_t> missing;
  };
  std::mutex mutex; // guards what follows
  std::map<size_t, Column> columns;
};

// A list has elements and names, all other kinds a value of the runtime.
struct tokamak_value {
  tokamak::runtime::Value value;
  std::vector<tokamak_value *> elements;
  std::vector<std::string> names;
  bool isList = false;
  int depth = 0; // of lists in lists
  mutable std::atomic<int32_t> references = 1;
  mutable std::atomic<ShownFrame *> frame =
      nullptr; // of a frame, from the first column that is shown

  explicit tokamak_value(tokamak::runtime::Value made) : value(std::move(made)) {}
  ~tokamak_value();
  tokamak_value(const tokamak_value &) = delete;
  tokamak_value &operator=(const tokamak_value &) = delete;
};

struct tokamak_function {
  tokamak::api::Function &function;
  tokamak_program &program;
  std::string signature;
};

struct tokamak_program {
  explicit tokamak_program(std::unique_ptr<tokamak::api::Program> program);
  tokamak_function *handleOf(tokamak::api::Function &function);

  std::unique_ptr<tokamak::api::Program> program;
  std::mutex mutex; // guards what follows
  std::deque<tokamak_function> functions;
  size_t ownFunctions = 0; // the first ones
};

namespace tokamak::api {

// Of this value; the elements of a list that nobody else has are moved.
tokamak_value *newValue(runtime::Value value, int depth = 1);
runtime::Value runtimeValue(const tokamak_value &value);

// What an action may have done when it fails.
enum class Stage : uint8_t { Preparing, Running };

// The error as it is reported; with `program`, which may be null, its text has excerpts.
tokamak_error *errorOf(const Error &error, Program *program, Stage stage);

// Runs the action; what it throws becomes the error.
template <typename Action>
tokamak_error *guarded(tokamak_program *program, Stage stage, const Action &action) {
  Program *shown = program ? program->program.get() : nullptr;
  try {
    withMemoryErrors(action);
    return nullptr;
  } catch (const Error &error) {
    return errorOf(error, shown, stage);
  } catch (const std::exception &error) {
    return errorOf(Error(error.what(), ErrorKind::Internal), shown, stage);
  }
}

// An action that can be stopped: before it gives its result it calls checkInterrupt().
template <typename Action>
tokamak_error *guardedCall(tokamak_program *program, Stage stage, const Action &action) {
  InterruptibleCall call;
  tokamak_error *error = guarded(program, stage, action);
  if (error && call.isStopped()) {
    error->status = TOKAMAK_INTERRUPTED;
    error->cause = call.cause();
  }
  return error;
}

} // namespace tokamak::api
#endif
