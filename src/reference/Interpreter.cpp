#include "reference/Interpreter.h"

#include "reference/OperationMeaning.h"
#include "reference/ProgramWalk.h"
#include "runtime/values/ScalarOperations.h"

namespace tokamak::reference {
namespace {

// The domain of plain values. Reading an unassigned variable is an error.
struct PlainDomain {
  using Value = runtime::Value;
  runtime::ExecutionContext &context;

  bool isTrue(const Value &condition) {
    runtime::checkDefined(condition);
    return condition.asBoolean();
  }
  int64_t integerOf(const Value &value) {
    runtime::checkDefined(value);
    return value.asInteger();
  }
  Value counter(int64_t value) { return value; }
  runtime::DrawPosition &draws() { return context.draws; }
  std::vector<Value> compute(mlir::Operation &operation, std::vector<Value> operands) {
    return meaningOf(operation, operands, context);
  }
  std::vector<Value> control(mlir::Operation &, llvm::function_ref<std::vector<Value>()> run) {
    return run();
  }
};

} // namespace

bool hasEffect(mlir::Operation &operation) {
  const NativeRow *native = tok::nativeRowOf(&operation);
  return native && native->effect == NativeEffect::Visible;
}

void Interpreter::run() { call("main", {}); }

std::vector<runtime::Value> Interpreter::call(llvm::StringRef function,
                                              std::vector<runtime::Value> arguments) {
  PlainDomain domain{context_};
  return ProgramWalk<PlainDomain>(module_, domain).call(function, std::move(arguments));
}

} // namespace tokamak::reference
