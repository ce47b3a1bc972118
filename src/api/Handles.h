// What the opaque types of tokamak.h are, and how exceptions become its errors.
//
//   return guarded(script, [&] { *value = newValue(function.call(arguments)); });
#ifndef TOKAMAK_API_HANDLES_H
#define TOKAMAK_API_HANDLES_H

#include "api/Script.h"
#include "api/tokamak.h"

#include "base/MemoryErrors.h"
#include "runtime/values/Frame.h"

#include <atomic>
#include <map>

struct tokamak_error {
  tokamak_status status;
  std::string message, text, file;
  int32_t line = 0, column = 0;
};

// A list has elements and names, all other kinds a value of the runtime.
struct tokamak_value {
  // A column of a frame as it is shown: its name, and the cells of one of texts.
  struct ShownColumn {
    std::string name, bytes;
    std::vector<int64_t> offsets;
    std::vector<uint8_t> missing;
  };
  tokamak::runtime::Value value;
  std::vector<tokamak_value *> elements;
  std::vector<std::string> names;
  bool isList = false;
  mutable std::atomic<int32_t> references = 1;
  mutable std::mutex mutex;                      // guards what follows
  mutable std::map<size_t, ShownColumn> columns; // of a frame, as asked for

  explicit tokamak_value(tokamak::runtime::Value made) : value(std::move(made)) {}
  ~tokamak_value();
  tokamak_value(const tokamak_value &) = delete;
  tokamak_value &operator=(const tokamak_value &) = delete;
};

struct tokamak_function {
  tokamak::api::Script::Function &function;
  tokamak_script &script;
  std::string signature;
  std::vector<std::string> types; // of parameters, then of results
};

struct tokamak_script {
  tokamak_script(std::string path, std::string text, tokamak::api::RunOptions options);
  tokamak_function *handleOf(tokamak::api::Script::Function &function);

  tokamak::api::Script script;
  std::mutex mutex; // guards what follows
  std::deque<tokamak_function> functions;
  size_t ownFunctions = 0; // the first ones
};

namespace tokamak::api {

// Of this value; the elements of a list that nobody else has are moved.
tokamak_value *newValue(runtime::Value value);
runtime::Value runtimeValue(const tokamak_value &value);

// The error as it is reported; with `script`, which may be null, its text has excerpts.
tokamak_error *errorOf(const Error &error, Script *script);

// Runs the action; what it throws becomes the error.
template <typename Action> tokamak_error *guarded(tokamak_script *script, const Action &action) {
  Script *shown = script ? &script->script : nullptr;
  try {
    withMemoryErrors(action);
    return nullptr;
  } catch (const Error &error) {
    return errorOf(error, shown);
  } catch (const std::exception &error) {
    return errorOf(Error(error.what(), ErrorKind::Internal), shown);
  }
}

} // namespace tokamak::api
#endif
