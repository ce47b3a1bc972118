#include "api/Handles.h"

#include "api/EmbeddedLibrary.h"
#include "base/Interrupt.h"
#include "runtime/memory/BufferPool.h"
#include "support/SourceText.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::api;
using runtime::Value;

//===- options -------------------------------------------------------------------------------===//

// The parts of a text between separators, without empty ones.
static std::vector<std::string> parts(const char *text, char separator) {
  std::vector<std::string> result;
  llvm::SmallVector<llvm::StringRef> found;
  llvm::StringRef(text ? text : "").split(found, separator, /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : found)
    result.push_back(part.trim().str());
  return result;
}

static RunOptions runOptions(const tokamak_options *given) {
  tokamak_options options = {};
  if (given)
    std::memcpy(&options, given, std::min(given->size, sizeof options));
  RunOptions result;
  result.threads = options.threads;
  switch (options.precision) {
  case TOKAMAK_AUTOMATIC:
    break;
  case TOKAMAK_DOUBLE_PRECISION:
    result.precision = Precision::Double;
    break;
  case TOKAMAK_SINGLE_PRECISION:
    result.precision = Precision::Single;
    break;
  default:
    throw Error(fmt::format("there is no precision {}", static_cast<int>(options.precision)));
  }
  if (options.has_seed)
    result.seed = options.seed;
  result.libraries = parts(options.libraries, ':');
  result.cacheFolder = options.cache ? options.cache : "";
  addDisabled(parts(options.disable, ','), result.disabled);
  result.output = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  if (options.output)
    result.output = [write = options.output, context = options.context](std::string_view text) {
      write(context, text.data(), text.size());
    };
  result.warn = [](const std::string &text) {
    std::fprintf(stderr, "tokamak: warning: %s\n", text.c_str());
  };
  if (options.warning)
    result.warn = [warn = options.warning, context = options.context](const std::string &text) {
      warn(context, text.c_str());
    };
  return result;
}

//===- scripts -------------------------------------------------------------------------------===//

tokamak_script::tokamak_script(std::string path, std::string text, RunOptions options)
    : script(std::move(path), std::move(text), std::move(options)) {
  for (const Script::Function &function : script.functions())
    handleOf(const_cast<Script::Function &>(function));
  ownFunctions = functions.size();
}

tokamak_function *tokamak_script::handleOf(Script::Function &function) {
  std::lock_guard lock(mutex);
  for (tokamak_function &known : functions)
    if (&known.function == &function)
      return &known;
  const frontend::FunctionSignature &signature = function.signature();
  std::vector<std::string> types;
  for (const auto *parameters : {&signature.parameters, &signature.outputs})
    for (const auto &parameter : *parameters)
      types.push_back(parameter.typeText());
  return &functions.emplace_back(function, *this, signature.text(), std::move(types));
}

tokamak_error *tokamak_script_compile(const char *name, const char *text,
                                      const tokamak_options *options, tokamak_script **script) {
  return guarded(nullptr, [&] { *script = new tokamak_script(name, text, runOptions(options)); });
}

tokamak_error *tokamak_script_compile_file(const char *path, const tokamak_options *options,
                                           tokamak_script **script) {
  return guarded(nullptr, [&] {
    *script = new tokamak_script(path, support::readSourceText(path), runOptions(options));
  });
}

void tokamak_script_free(tokamak_script *script) { delete script; }

tokamak_error *tokamak_script_run(tokamak_script *script, size_t count, const char *const *names,
                                  const char *const *texts) {
  return guarded(script, [&] {
    std::map<std::string, std::string> arguments;
    for (size_t i = 0; i < count; ++i)
      arguments[names[i]] = texts[i];
    script->script.run(arguments);
  });
}

size_t tokamak_script_function_count(const tokamak_script *script) { return script->ownFunctions; }

tokamak_function *tokamak_script_function_at(tokamak_script *script, size_t index) {
  return index < script->ownFunctions ? &script->functions[index] : nullptr;
}

tokamak_error *tokamak_script_function(tokamak_script *script, const char *name,
                                       tokamak_function **function) {
  return guarded(script, [&] { *function = script->handleOf(script->script.function(name)); });
}

tokamak_error *tokamak_script_counts(tokamak_script *script, tokamak_value **counts) {
  return guarded(script, [&] {
    exec::RunCounts counted = script->script.counts();
    auto list = std::make_shared<runtime::List>();
    auto add = [&](const char *name, int64_t number) {
      list->names.emplace_back(name);
      list->elements.emplace_back(number);
    };
    add("plans made", counted.specializations);
    add("plans loaded", counted.plansLoaded);
    add("planning time", counted.specializationTime);
    add("kernels compiled", counted.kernelsCompiled);
    add("kernels reused", counted.kernelsReused);
    add("kernels loaded", counted.kernelsLoaded);
    add("kernels built in", counted.kernelsBuiltIn);
    add("compiling time", counted.kernelTime);
    add("arrays written", counted.materializedArrays);
    *counts = newValue(Value(std::shared_ptr<const runtime::List>(std::move(list))));
  });
}

//===- functions -----------------------------------------------------------------------------===//

const char *tokamak_function_name(const tokamak_function *function) {
  return function->function.signature().name.c_str();
}

const char *tokamak_function_comment(const tokamak_function *function) {
  return function->function.signature().comment.c_str();
}

const char *tokamak_function_signature(const tokamak_function *function) {
  return function->signature.c_str();
}

size_t tokamak_function_parameter_count(const tokamak_function *function) {
  return function->function.signature().parameters.size();
}

size_t tokamak_function_result_count(const tokamak_function *function) {
  return function->function.signature().outputs.size();
}

static tokamak_parameter parameterOf(const frontend::FunctionSignature::Parameter &parameter,
                                     const std::string &type) {
  return {parameter.name.c_str(), type.c_str(),
          parameter.defaultText ? parameter.defaultText->c_str() : nullptr};
}

tokamak_parameter tokamak_function_parameter(const tokamak_function *function, size_t index) {
  const auto &parameters = function->function.signature().parameters;
  if (index >= parameters.size())
    return {};
  return parameterOf(parameters[index], function->types[index]);
}

tokamak_parameter tokamak_function_result(const tokamak_function *function, size_t index) {
  const frontend::FunctionSignature &signature = function->function.signature();
  if (index >= signature.outputs.size())
    return {};
  return parameterOf(signature.outputs[index],
                     function->types[signature.parameters.size() + index]);
}

static std::vector<Script::Argument> argumentsOf(const tokamak_argument *arguments, size_t count) {
  std::vector<Script::Argument> result(count);
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].name)
      result[i].name = arguments[i].name;
    result[i].value = runtimeValue(*arguments[i].value);
  }
  return result;
}

tokamak_error *tokamak_function_call(tokamak_function *function, const tokamak_argument *arguments,
                                     size_t count, tokamak_value **results) {
  return guarded(&function->script, [&] {
    std::vector<Script::Argument> given = argumentsOf(arguments, count);
    *results = newValue(Value(function->function.call(given)));
  });
}

tokamak_error *tokamak_function_explain(tokamak_function *function,
                                        const tokamak_argument *arguments, size_t count,
                                        const char *what, tokamak_value **text) {
  return guarded(&function->script, [&] {
    exec::Explanations explain;
    addExplanations(parts(what, ','), explain);
    std::vector<Script::Argument> given = argumentsOf(arguments, count);
    *text = newValue(Value(function->function.explain(given, explain)));
  });
}

//===- the process ---------------------------------------------------------------------------===//

int32_t tokamak_api_version(void) { return TOKAMAK_API_VERSION; }
const char *tokamak_version(void) { return TOKAMAK_VERSION; }
void tokamak_interrupt(void) { requestInterrupt(); }

void tokamak_set_memory(int64_t bytes) {
  runtime::BufferPool::instance().setMemoryBudget(std::max<int64_t>(bytes, 0));
}

void tokamak_memory(int64_t *in_use, int64_t *cached) {
  runtime::PoolStatistics statistics = runtime::BufferPool::instance().statistics();
  *in_use = statistics.inUse;
  *cached = statistics.cached;
}

const char *tokamak_library_name(size_t index) {
  const std::vector<EmbeddedSource> &sources = embeddedLibrary();
  // Literals, which end with a zero.
  return index < sources.size() ? sources[index].name.data() : nullptr;
}
