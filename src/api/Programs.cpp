#include "api/Handles.h"

#include "api/EmbeddedLibrary.h"
#include "api/Model.h"
#include "api/Script.h"
#include "base/Interrupt.h"
#include "runtime/memory/BufferPool.h"

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
  auto isStopped = [] {
    const InterruptibleCall *call = InterruptibleCall::current();
    return call && call->isStopped();
  };
  if (options.output)
    result.output = [=, write = options.output, context = options.context](std::string_view text) {
      if (!isStopped())
        write(context, text.data(), text.size());
    };
  result.warn = [](const std::string &text) {
    std::fprintf(stderr, "tokamak: warning: %s\n", text.c_str());
  };
  if (options.warning)
    result.warn = [=, warn = options.warning, context = options.context](const std::string &text) {
      if (!isStopped())
        warn(context, text.c_str());
    };
  return result;
}

//===- programs ------------------------------------------------------------------------------===//

tokamak_program::tokamak_program(std::unique_ptr<Program> opened) : program(std::move(opened)) {
  for (Function *function : program->functions())
    handleOf(*function);
  ownFunctions = functions.size();
}

tokamak_function *tokamak_program::handleOf(Function &function) {
  std::lock_guard lock(mutex);
  for (tokamak_function &known : functions)
    if (&known.function == &function)
      return &known;
  return &functions.emplace_back(function, *this, function.signature().text());
}

template <typename Open>
static tokamak_error *compiled(tokamak_program **program, const Open &open) {
  return guardedCall(nullptr, Stage::Preparing, [&] {
    auto opened = std::make_unique<tokamak_program>(open());
    checkInterrupt();
    *program = opened.release();
  });
}

tokamak_error *tokamak_program_compile(const char *name, const char *text,
                                       const tokamak_options *options, tokamak_program **program) {
  return compiled(program,
                  [&] { return std::make_unique<Script>(name, text, runOptions(options)); });
}

tokamak_error *tokamak_program_compile_file(const char *path, const tokamak_options *options,
                                            tokamak_program **program) {
  return compiled(program, [&] { return Program::open(path, runOptions(options)); });
}

tokamak_error *tokamak_program_compile_model(const char *name, const void *bytes, size_t count,
                                             const tokamak_options *options,
                                             tokamak_program **program) {
  return compiled(program, [&] {
    std::string model(static_cast<const char *>(bytes), count);
    return std::make_unique<Model>(name, std::move(model), runOptions(options));
  });
}

void tokamak_program_free(tokamak_program *program) { delete program; }

tokamak_error *tokamak_program_run(tokamak_program *program, size_t count, const char *const *names,
                                   const char *const *texts) {
  return guardedCall(program, Stage::Running, [&] {
    std::map<std::string, std::string> arguments;
    for (size_t i = 0; i < count; ++i)
      arguments[names[i]] = texts[i];
    program->program->run(arguments);
    checkInterrupt();
  });
}

size_t tokamak_program_function_count(const tokamak_program *program) {
  return program->ownFunctions;
}

tokamak_function *tokamak_program_function_at(tokamak_program *program, size_t index) {
  std::lock_guard lock(program->mutex);
  return index < program->ownFunctions ? &program->functions[index] : nullptr;
}

tokamak_error *tokamak_program_function(tokamak_program *program, const char *name,
                                        tokamak_function **function) {
  return guarded(program, Stage::Preparing,
                 [&] { *function = program->handleOf(program->program->function(name)); });
}

tokamak_error *tokamak_program_counts(tokamak_program *program, tokamak_value **counts) {
  return guarded(program, Stage::Preparing, [&] {
    exec::RunCounts counted = program->program->counts();
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
  return function->function.signature().results.size();
}

static tokamak_parameter parameterAt(const std::vector<Signature::Parameter> &parameters,
                                     size_t index) {
  if (index >= parameters.size())
    return {};
  const Signature::Parameter &parameter = parameters[index];
  return {parameter.name.c_str(), parameter.type.c_str(),
          parameter.defaultText ? parameter.defaultText->c_str() : nullptr};
}

tokamak_parameter tokamak_function_parameter(const tokamak_function *function, size_t index) {
  return parameterAt(function->function.signature().parameters, index);
}

tokamak_parameter tokamak_function_result(const tokamak_function *function, size_t index) {
  return parameterAt(function->function.signature().results, index);
}

static std::vector<Argument> argumentsOf(const tokamak_argument *arguments, size_t count) {
  std::vector<Argument> result(count);
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].name)
      result[i].name = arguments[i].name;
    result[i].value = runtimeValue(*arguments[i].value);
  }
  return result;
}

tokamak_error *tokamak_function_call(tokamak_function *function, const tokamak_argument *arguments,
                                     size_t count, tokamak_value **results) {
  return guardedCall(&function->program, Stage::Running, [&] {
    std::vector<Argument> given = argumentsOf(arguments, count);
    Value result(function->function.call(given));
    checkInterrupt();
    *results = newValue(std::move(result));
  });
}

tokamak_error *tokamak_function_explain(tokamak_function *function,
                                        const tokamak_argument *arguments, size_t count,
                                        const char *what, tokamak_value **text) {
  return guardedCall(&function->program, Stage::Running, [&] {
    exec::Explanations explain;
    addExplanations(parts(what, ','), explain);
    std::vector<Argument> given = argumentsOf(arguments, count);
    Value explained(function->function.explain(given, explain));
    checkInterrupt();
    *text = newValue(std::move(explained));
  });
}

//===- the process ---------------------------------------------------------------------------===//

int32_t tokamak_api_version(void) { return TOKAMAK_API_VERSION; }
const char *tokamak_version(void) { return TOKAMAK_VERSION; }
void tokamak_interrupt(void) { requestInterrupt(); }

int tokamak_stop_call(void *cause) {
  InterruptibleCall *call = InterruptibleCall::current();
  return call && call->stop(cause);
}

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
