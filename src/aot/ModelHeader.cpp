#include "aot/ModelHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cmath>
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
  case TOK_MODEL_TENSOR:
    return "const tokamak_tensor *";
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
  case TOK_MODEL_TENSOR:
    return "tokamak_tensor *";
  default:
    return "tokamak_matrix *";
  }
}

// Text of the script as one line of a comment, which a backslash at its end would continue on the next.
static std::string inComment(llvm::StringRef text) {
  std::string line = text.trim().str();
  std::ranges::replace_if(line, [](unsigned char letter) { return letter < ' '; }, ' ');
  return line.ends_with('\\') ? line + '.' : line;
}

// Without <math.h>, whose names may be those of parameters.
static std::string literalOf(double number) {
  const char *sign = std::signbit(number) ? "-" : "";
  if (std::isnan(number))
    return "__builtin_nan(\"\")";
  if (std::isinf(number))
    return fmt::format("{}__builtin_inf()", sign);
  std::string text = fmt::format("{}", number);
  bool isInteger = text.find_first_of(".e") == std::string::npos;
  return isInteger ? text + ".0" : text; // an integer has no -0
}

static std::string literalOf(const std::variant<bool, int64_t, double, std::string> &value) {
  if (const auto *truth = std::get_if<bool>(&value))
    return *truth ? "1" : "0";
  if (const auto *integer = std::get_if<int64_t>(&value)) // the least one has no literal in C
    return *integer == INT64_MIN ? "INT64_MIN" : fmt::format("{}", *integer);
  if (const auto *number = std::get_if<double>(&value))
    return literalOf(*number);
  std::string text = "\"";
  for (char letter : std::get<std::string>(value))
    text += llvm::isPrint(letter) && letter != '"' && letter != '\\' && letter != '?'
                ? std::string(1, letter)
                : fmt::format("\\{:03o}", static_cast<unsigned char>(letter));
  return text + "\"";
}

std::string aot::declarationOf(const Model &model, const ModelEntry &entry) {
  std::vector<std::string> names = namesOf(entry);
  std::string start = fmt::format("int {}(", functionName(model, entry));
  std::string indent = ",\n" + std::string(start.size(), ' ');
  std::string text = fmt::format("{}{}_context *context", start, model.name);
  size_t next = 0;
  for (const ModelValue &parameter : entry.parameters) {
    const std::string &name = names[next++];
    if (!parameter.byDefault)
      text += indent + parameterType(parameter.type) + name;
  }
  if (entry.hasOptions())
    text += indent + "const " + optionsName(model, entry) + " *options";
  for (const ModelValue &result : entry.results)
    text += indent + resultType(result.type) + names[next++];
  return text + ");\n";
}

// The struct of the parameters that may be left out, and the function that gives their defaults.
static std::string optionsOf(const Model &model, const ModelEntry &entry) {
  if (!entry.hasOptions())
    return "";
  std::vector<std::string> names = namesOf(entry);
  std::string name = optionsName(model, entry);
  std::string members, assignments;
  for (auto [parameter, member] : llvm::zip(entry.parameters, names))
    if (parameter.byDefault) {
      members += fmt::format("  {}{}; // {}\n", parameterType(parameter.type), member,
                             inComment(parameter.comment));
      assignments += fmt::format("  options.{} = {};\n", member, literalOf(*parameter.byDefault));
    }
  return fmt::format(R"(
// Parameters of {0} that may be left out: begin with what {2} gives.
typedef struct {1} {{
{3}}} {1};
static inline {1} {2}(void) {{
  {1} options;
{4}  return options;
}}
)",
                     functionName(model, entry), name, defaultsName(model, entry), members,
                     assignments);
}

static std::string entryText(const Model &model, const ModelEntry &entry) {
  std::string text = optionsOf(model, entry) + "\n";
  if (!entry.comment.empty()) {
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(entry.comment).split(lines, '\n');
    for (llvm::StringRef line : lines)
      text += "// " + inComment(line) + "\n";
    text += "//\n";
  }
  std::vector<std::string> names = namesOf(entry);
  size_t next = 0;
  for (const ModelValue &parameter : entry.parameters) {
    const std::string &name = names[next++];
    if (!parameter.byDefault)
      text += fmt::format("//   {}: {}\n", name, inComment(parameter.comment));
  }
  if (entry.hasOptions())
    text += "//   options: the others; NULL: their defaults\n";
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
// Give back the memory of a result, if it isn't the caller's. NULL: do nothing.
void {0}_matrix_free(tokamak_matrix *matrix);
void {0}_tensor_free(tokamak_tensor *tensor);

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
