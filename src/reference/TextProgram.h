// For tests: a module in the textual form of the `tok` dialect, and short ways to write values.
//
//   TextProgram program("func.func @f(%x: f64) -> f64 { return %x : f64 }");
//   program.call("f", {Value(2.0)}).asDouble() == 2
//   shown(matrix(2, 2, {1, 2, 3, 4})) == "1 2; 3 4"
#ifndef TOKAMAK_REFERENCE_TEXTPROGRAM_H
#define TOKAMAK_REFERENCE_TEXTPROGRAM_H

#include "base/Error.h"
#include "reference/Interpreter.h"
#include "reference/MatrixAccess.h"
#include "runtime/parallel/TileScheduler.h"

#include "ir/plan/PlanDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tokamak::reference {

class TextProgram {
public:
  // Throws if the text is not a valid module; the diagnostics are on stderr.
  explicit TextProgram(llvm::StringRef text) : scheduler_(1) {
    mlirContext_.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &mlirContext_);
    if (!module_)
      throw std::runtime_error("the module does not parse");
    context_.output = &output_;
    context_.scheduler = &scheduler_;
    interpreter_ = std::make_unique<Interpreter>(*module_, context_);
  }

  Interpreter &interpreter() { return *interpreter_; }
  std::string output() const { return output_.str(); }
  std::vector<Value> callAll(llvm::StringRef function, std::vector<Value> arguments) {
    return interpreter_->call(function, std::move(arguments));
  }
  // Returns the only result.
  Value call(llvm::StringRef function, std::vector<Value> arguments) {
    return callAll(function, std::move(arguments)).at(0);
  }
  // The error that the call throws.
  Error failure(llvm::StringRef function, std::vector<Value> arguments) {
    try {
      callAll(function, std::move(arguments));
    } catch (const Error &error) {
      return error;
    }
    return Error("no error");
  }

private:
  mlir::MLIRContext mlirContext_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::ostringstream output_;
  runtime::Scheduler scheduler_;
  runtime::ExecutionContext context_;
  std::unique_ptr<Interpreter> interpreter_;
};

inline Value matrix(int64_t rows, int64_t columns, const std::vector<double> &cells) {
  ArrayPointer result = Array::create({rows, columns});
  std::copy(cells.begin(), cells.end(), result->mutableData());
  return result;
}

// Cells separated by blanks, rows by semicolons; an empty matrix by its size, a scalar as it
// prints.
inline std::string shown(const Value &value) {
  if (!value.isArray())
    return value.asText();
  const Array &x = *value.array();
  if (x.cells() == 0)
    return x.shape().text();
  std::string text;
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t j = 0; j < x.columns(); ++j)
      text += fmt::format("{}{}", j > 0 ? " " : i > 0 ? "; " : "", x.at(i, j));
  return text;
}

// The message of the Error that `action` throws.
template <typename Action> std::string messageOf(Action action) {
  try {
    action();
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

} // namespace tokamak::reference
#endif
