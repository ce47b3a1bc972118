#include "aot/ModelHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::aot;

// Names of parameters and results, which may be equal in the script.
static std::vector<std::string> namesOf(const ModelEntry &entry) {
  std::vector<std::string> names;
  llvm::StringSet<> taken;
  auto add = [&](const ModelValue &value, const char *otherwise) {
    std::string name = identifier(value.name);
    while (!taken.insert(name).second)
      name += otherwise;
    names.push_back(name);
  };
  for (const ModelValue &parameter : entry.parameters)
    add(parameter, "_");
  for (const ModelValue &result : entry.results)
    add(result, "_result");
  return names;
}

static const char *parameterType(TokModelType type) {
  switch (type) {
  case TOK_MODEL_DOUBLE:
    return "double ";
  case TOK_MODEL_INTEGER:
    return "int64_t ";
  case TOK_MODEL_BOOLEAN:
    return "int ";
  case TOK_MODEL_TEXT:
    return "const char *";
  default:
    return "const tokamak_matrix *";
  }
}

static const char *resultType(TokModelType type) {
  switch (type) {
  case TOK_MODEL_DOUBLE:
    return "double *";
  case TOK_MODEL_INTEGER:
    return "int64_t *";
  case TOK_MODEL_BOOLEAN:
    return "int *";
  case TOK_MODEL_TEXT:
    return "const char **";
  default:
    return "tokamak_matrix *";
  }
}

// Text of the script as one line of a comment, which a backslash at its end would continue on the next.
static std::string inComment(llvm::StringRef text) {
  std::string line = text.trim().str();
  std::ranges::replace(line, '\n', ' ');
  return line.ends_with('\\') ? line + '.' : line;
}

std::string aot::declarationOf(const Model &model, const ModelEntry &entry) {
  std::vector<std::string> names = namesOf(entry);
  std::string start = fmt::format("int {}(", functionName(model, entry));
  std::string indent = ",\n" + std::string(start.size(), ' ');
  std::string text = fmt::format("{}{}_context *context", start, model.name);
  size_t next = 0;
  for (const ModelValue &parameter : entry.parameters)
    text += indent + parameterType(parameter.type) + names[next++];
  for (const ModelValue &result : entry.results)
    text += indent + resultType(result.type) + names[next++];
  return text + ");\n";
}

static std::string entryText(const Model &model, const ModelEntry &entry) {
  std::string text = "\n";
  if (!entry.comment.empty()) {
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(entry.comment).split(lines, '\n');
    for (llvm::StringRef line : lines)
      text += "// " + inComment(line) + "\n";
    text += "//\n";
  }
  std::vector<std::string> names = namesOf(entry);
  size_t next = 0;
  for (const ModelValue &parameter : entry.parameters)
    text += fmt::format("//   {}: {}\n", names[next++], inComment(parameter.comment));
  for (const ModelValue &result : entry.results)
    text += fmt::format("//   {}: result, {}\n", names[next++], inComment(result.comment));
  return text + declarationOf(model, entry);
}

std::string aot::headerBeginning(std::string_view name) {
  return fmt::format("// {}: compiled ahead of time by Tokamak ", name);
}

std::string aot::modelHeader(const Model &model) {
  const std::string guard = llvm::StringRef(model.name).upper() + "_H";
  std::string text = fmt::format(
      R"({5}{1} for {2}. Made by a program: changes are lost.
#ifndef {3}
#define {3}

{4}
#ifdef __cplusplus
extern "C" {{
#endif

// Settings, and the error of the last call. One thread at a time may use a context; several contexts may be used by
// several threads. Functions also take NULL: all threads, and no text of errors; but those that give a text return
// TOKAMAK_CALL_REJECTED then, as a context keeps it.
typedef struct {0}_context {0}_context;
{0}_context *{0}_context_create(void); // NULL if there is no memory
void {0}_context_free({0}_context *context);
// 0, which it is at first: as many as the process may use. Results don't depend on it.
void {0}_context_set_threads({0}_context *context, int32_t threads);
// Of random numbers that are drawn without a seed; negative, which it is at first: another one at each draw.
void {0}_context_set_seed({0}_context *context, int64_t seed);
// Receives what the program prints; NULL: it goes to stdout.
void {0}_context_set_output({0}_context *context, void (*output)(void *owner, const char *text, size_t bytes),
                            void *owner);
// Of the last call: "script.dml:3:5: error: ...", and a line for each function that was active; "" if it succeeded.
const char *{0}_context_error(const {0}_context *context);
// Its place; "" and 0 if there is none.
const char *{0}_context_error_file(const {0}_context *context);
int32_t {0}_context_error_line(const {0}_context *context);
int32_t {0}_context_error_column(const {0}_context *context);
// Gives back the memory of a result, if it isn't the caller's. NULL: does nothing.
void {0}_matrix_free(tokamak_matrix *matrix);

// The functions return TOKAMAK_CALL_SUCCEEDED, which is 0, or why they failed. Texts that they give are valid until the
// next call with the same context.
)",
      model.name, TOKAMAK_VERSION, model.target->name, guard, compiledHeaderText(),
      headerBeginning(model.name));
  for (const ModelEntry &entry : model.entries)
    text += entryText(model, entry);
  return text + R"(
#ifdef __cplusplus
}
#endif
#endif
)";
}
