#include "frontend/dml/EntryCall.h"

#include "llvm/ADT/StringRef.h"

#include <filesystem>
#include <fmt/format.h>

namespace tokamak::frontend {

// The options of read for a file without metadata, by the ending of its name.
static std::string formatOf(const std::string &path) {
  std::error_code error;
  if (std::filesystem::exists(path + ".mtd", error))
    return "";
  llvm::StringRef name = path;
  name.consume_back(".gz");
  if (name.ends_with(".csv"))
    return ", format=\"csv\"";
  return name.ends_with(".mtx") ? ", format=\"mm\"" : "";
}

// The expression for an argument of this type, given on the command line as $name.
static std::string valueOf(const DeclaredType &type, const std::string &name,
                           const std::string &text) {
  switch (type.dataType) {
  case DeclaredDataType::Frame:
    return fmt::format("read(${}, data_type=\"frame\"{})", name, formatOf(text));
  case DeclaredDataType::Scalar:
    return "$" + name;
  default:
    return fmt::format("read(${}{})", name, formatOf(text));
  }
}

std::string entryCall(const FunctionDefinition &function,
                      const std::map<std::string, std::string> &arguments) {
  std::string passed, results;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &parameter = function.parameters[i];
    auto given = arguments.find(parameter.name);
    if (given == arguments.end())
      given = arguments.find(std::to_string(i + 1));
    if (given != arguments.end() && !given->second.empty())
      passed += fmt::format("{}{} = {}", passed.empty() ? "" : ", ", parameter.name,
                            valueOf(parameter.type, given->first, given->second));
  }
  for (const Parameter &output : function.outputs)
    results += (results.empty() ? "" : ", ") + output.name;
  bool isSingle = function.outputs.size() == 1;
  std::string text = fmt::format("{}{}({})\n",
                                 function.outputs.empty() ? ""
                                 : isSingle               ? results + " = "
                                                          : "[" + results + "] = ",
                                 function.name, passed);
  for (const Parameter &output : function.outputs) {
    bool isScalar = output.type.dataType == DeclaredDataType::Scalar;
    if (isSingle)
      text += fmt::format("print({})\n", isScalar ? output.name : "toString(" + output.name + ")");
    else if (isScalar)
      text += fmt::format("print(\"{0} = \" + {0})\n", output.name);
    else
      text += fmt::format("print(\"{0}:\")\nprint(toString({0}))\n", output.name);
  }
  return text;
}

} // namespace tokamak::frontend
