// A model compiled ahead of time, as plain data: what is written to its files (ModelFiles.h).
//
//   Model model{.name = "scoring", .target = &codegen::x86Target(), .objects = &objects};
//   model.entries.push_back({"score", "", {{"X", TOK_MODEL_MATRIX, "matrix[double], ? x 100"}}, {}, {}, program});
#ifndef TOKAMAK_AOT_MODEL_H
#define TOKAMAK_AOT_MODEL_H

#include "abi/CompiledModel.h"
#include "codegen/target/Target.h"
#include "exec/ObjectKeeper.h"
#include "runtime/image/PlannedProgram.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tokamak::aot {

struct ModelValue {
  std::string name; // in the script
  TokModelType type;
  std::string comment; // type and sizes, for the header
  // Of a tensor: its cells and how many dimensions it has, with the sizes that it must have, -1 where any will do.
  ElementType cells = ElementType::F64;
  std::vector<int64_t> sizes = {};
  // What a parameter is that the caller leaves out; nothing: it must be given.
  std::optional<std::variant<bool, int64_t, double, std::string>> byDefault = {};
};

// An array that is the same in all calls.
struct ModelWeight {
  ElementType type;
  std::vector<int64_t> sizes;
  std::string cells;
};

// A function that can be called.
struct ModelEntry {
  std::string name; // in the script
  std::string comment;
  std::vector<ModelValue> parameters, results;
  std::vector<ModelWeight> weights; // behind the parameters
  runtime::PlannedProgram program;  // its first function is the entry
  // Of the program's function that makes the weights which the entry takes of these; nothing: they are the weights.
  std::optional<size_t> preparation = {};

  // Whether parameters may be left out: those are members of a struct.
  bool hasOptions() const;
};

struct Model {
  std::string name; // an identifier of C: what all symbols begin with
  const codegen::Target *target;
  const exec::ObjectKeeper *objects; // of the kernels
  std::vector<ModelEntry> entries;
};

// The names of all kernels that the model's programs launch; true for those whose partial results merge.
std::map<std::string, bool> kernelsOf(const Model &model);
// The natives that they call.
std::set<NativeKind> nativesOf(const Model &model);

// The name with letters, digits and underscores only, and none that C, C++ or the headers of models use.
std::string identifier(std::string_view name);
// The C function of an entry.
std::string functionName(const Model &model, const ModelEntry &entry);
// The struct of its parameters that may be left out, and the function that gives their defaults.
std::string optionsName(const Model &model, const ModelEntry &entry);
std::string defaultsName(const Model &model, const ModelEntry &entry);
// Throws Error if entries of these names would have the same C function, or one that every model has.
void checkFunctionNames(const std::string &model, std::span<const std::string> entries);

} // namespace tokamak::aot
#endif
