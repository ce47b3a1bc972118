// An ONNX model, as a function of its inputs, `main`.
//
//   Model model("digits.onnx", {});                          // throws Error
//   std::vector<Argument> arguments{{"image", array}};
//   std::shared_ptr<const runtime::List> results = model.function("main").call(arguments);
//
// Numbers of other types than the model's are converted to them; sizes have to be those that it says.
#ifndef TOKAMAK_API_MODEL_H
#define TOKAMAK_API_MODEL_H

#include "api/Program.h"

#include "frontend/onnx/ImportModel.h"

namespace tokamak::api {

class Model : public Program {
public:
  Model(const std::string &path, RunOptions options);
  // Of the bytes of such a file; `name` stands for the path in messages.
  Model(const std::string &name, std::string bytes, RunOptions options);
  ~Model() override;

  std::vector<Function *> functions() override;
  Function &function(const std::string &name) override;
  // Throws Error: a model has no statements.
  void run(const std::map<std::string, std::string> &arguments) override;
  std::string describe(const Error &error) override;
  exec::RunCounts counts() override;

private:
  class Main;
  onnx::ModelFile file_;
  std::unique_ptr<Main> main_;
};

} // namespace tokamak::api
#endif
