// The values that --input and --shape give to a model's inputs: files, or made ones of one or several sizes.
//
//   ModelInputs inputs(line, listed);                 // those of the model
//   inputs.variants()                                 // 200, if a --shape names a file with 200 lines
//   runtime::ArrayPointer image = inputs.value("image", 17);
//
#ifndef TOKAMAK_TOOLS_TOKAMAK_MODELINPUTS_H
#define TOKAMAK_TOOLS_TOKAMAK_MODELINPUTS_H

#include "tokamak/CommandLine.h"

#include "frontend/onnx/file/Model.h"
#include "runtime/values/Value.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tokamak {

// NAME=REST, as an option is given. Throws Error.
std::pair<std::string, std::string> splitNamed(const std::string &option, const char *optionName);

class ModelInputs {
public:
  // Throws Error for inputs that the model doesn't have, for those that have no value, and for values that don't
  // suit them.
  ModelInputs(const CommandLine &line, std::vector<const onnx::ValueInfo *> inputs);

  const std::vector<const onnx::ValueInfo *> &all() const { return inputs_; }
  // How many values inputs of several sizes have; 1 if there are none.
  int variants() const { return variants_; }
  bool hasVariants(std::string_view input) const;
  // Of the given variant; inputs of one size have the same in each.
  runtime::ArrayPointer value(std::string_view input, int variant) const;
  // Of each of `inputs`: constants are the same in all variants, others have symbols, equal ones the same.
  std::vector<std::vector<Size>>
  expectedSizes(std::span<const onnx::ValueInfo *const> inputs) const;

private:
  using Sizes = std::vector<int64_t>;
  struct Given {
    const onnx::ValueInfo *input;
    std::string source;
    std::vector<Sizes> shapes;   // those that --shape says
    runtime::ArrayPointer value; // of the first variant
  };
  const onnx::ValueInfo &inputNamed(const std::string &name) const;
  runtime::ArrayPointer read(const Given &given) const;

  std::vector<const onnx::ValueInfo *> inputs_;
  std::map<std::string, Given, std::less<>> given_;
  int variants_ = 1;
};

} // namespace tokamak
#endif
