// A function of a script or of the library that is called from outside (Script.h makes them).
//
//   ScriptFunction function(script, signature);
//   std::shared_ptr<const runtime::List> results = function.call(arguments);
#ifndef TOKAMAK_API_SCRIPTFUNCTION_H
#define TOKAMAK_API_SCRIPTFUNCTION_H

#include "api/Script.h"

namespace tokamak::api {

class ScriptFunction : public Function {
public:
  ScriptFunction(Script &script, const frontend::FunctionSignature &signature);

  std::shared_ptr<const runtime::List> call(std::span<Argument> arguments) override;
  std::string explain(std::span<Argument> arguments, const exec::Explanations &explain) override;
  exec::RunCounts counts() override;

private:
  // Arguments by position of their parameters; Nothing: not given.
  struct Bound {
    std::vector<runtime::Value> values;
    std::string key; // kinds of the arguments, and the precision
    bool singlePrecision = false;
  };
  Bound bind(std::span<Argument> arguments) const;
  runtime::Value converted(runtime::Value value, size_t place, ElementType type) const;
  std::unique_ptr<CompiledFunction> compile(const Bound &bound, exec::ProgramOptions program) const;
  CompiledFunction &compiled(const Bound &bound);
  std::shared_ptr<const runtime::List> run(CompiledFunction &compiled, Bound bound) const;

  Script &script_;
  std::vector<frontend::DeclaredType> types_; // of the parameters
  std::shared_mutex mutex_;                   // guards what follows; it is compiled under it
  std::vector<std::pair<std::string, std::unique_ptr<CompiledFunction>>> compiled_;
};

} // namespace tokamak::api
#endif
