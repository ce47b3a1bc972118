#include "oracle/BoundedInterpreter.h"

#include "base/Error.h"
#include "ir/tok/ElementTypes.h"
#include "oracle/OperationRules.h"
#include "reference/Interpreter.h"
#include "reference/OperationMeaning.h"
#include "reference/ProgramWalk.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <sstream>

namespace tokamak::oracle {
namespace {

// The maximum difference in ULPs between the vector functions of kernels and those of the C
// library.
constexpr double functionUnits = 6;

ErrorModel modelOf(const BoundedOptions &options, ElementType type, bool functionsAgree) {
  ErrorModel model = ErrorModel::of(type);
  model.functionUnits = functionUnits;
  model.functionsAgree = functionsAgree;
  model.sparse = options.sparse;
  model.zeroRule = options.zeroRule;
  return model;
}

void checkHasValue(const Bounded &value) {
  if (value.failure)
    throw Error(*value.failure);
}

// Whether the native engine may store a matrix of many such rows as sparse, even if it was created dense. The
// engine decides by an estimate of the number of non-zeros that may be half the actual number.
bool mayBeSparseIfLong(const runtime::Array &array) {
  constexpr int64_t times = runtime::sparseLeastCells;
  const runtime::Shape &shape = array.shape();
  return shape.rank() == 2 && runtime::Array::isBetterSparse({shape[0] * times, shape[1]},
                                                             array.countNonZeros() / 2 * times);
}

// The type of floats with the fewest digits among the operation's arrays.
ElementType precisionOf(mlir::Operation &operation, ElementType precision) {
  auto consider = [&](mlir::TypeRange types) {
    for (mlir::Type type : types)
      if (tok::isArray(type))
        if (ElementType own = *tok::elementTypeOf(type); isFloat(own))
          precision = std::max(precision, own);
  };
  consider(operation.getOperandTypes());
  consider(operation.getResultTypes());
  return precision;
}

} // namespace

struct BoundedInterpreter::Domain {
  using Value = Bounded;
  BoundedInterpreter &owner;

  // The rules between engines and between plans, for operations of this precision.
  OperationRules betweenEngines(ElementType precision) {
    return {modelOf(owner.options_, precision, /*functionsAgree=*/false), owner.context_};
  }
  // `exact`: whether the operands are known to the bit.
  OperationRules betweenPlans(ElementType precision, bool exact) {
    ErrorModel model = modelOf(owner.options_, precision, /*functionsAgree=*/true);
    model.digitsAreKnown = exact;
    return {model, owner.context_};
  }

  bool isTrue(const Bounded &condition) {
    checkHasValue(condition);
    runtime::checkDefined(condition.value);
    if (!condition.engine.isExact())
      owner.decide("a condition is not exact");
    return condition.value.asBoolean();
  }
  int64_t integerOf(const Bounded &value) {
    checkHasValue(value);
    runtime::checkDefined(value.value);
    if (!value.engine.isExact())
      owner.decide("a range is not exact");
    return value.value.asInteger();
  }
  Bounded counter(int64_t value) { return {value, {}, {}, {}}; }
  runtime::DrawPosition &draws() { return owner.context_.draws; }

  std::vector<Bounded> compute(mlir::Operation &operation, std::vector<Bounded> operands) {
    bool hasEffect = reference::hasEffect(operation);
    for (const Bounded &operand : operands)
      if (operand.failure && owner.options_.failsWhereNeeded && asksForSize(operation))
        throw Undecided("the size of what fails may be known without it");
      else if (operand.failure && owner.options_.failsWhereNeeded && !hasEffect)
        return failed(operation, operand.failure);
      else
        checkHasValue(operand);
    if (hasEffect || !owner.options_.failsWhereNeeded)
      return computed(operation, std::move(operands));
    return withFailure(operation, [&] { return computed(operation, std::move(operands)); });
  }

  // The native engine also removes loops and branches without side effects whose results are
  // unused, so their errors are raised only where a result is used.
  std::vector<Bounded> control(mlir::Operation &operation,
                               llvm::function_ref<std::vector<Bounded>()> run) {
    if (!owner.options_.failsWhereNeeded || !mlir::isMemoryEffectFree(&operation))
      return run();
    return withFailure(operation, run);
  }

  // The results of `run`; if it fails, results that carry the error.
  static std::vector<Bounded> withFailure(mlir::Operation &operation,
                                          llvm::function_ref<std::vector<Bounded>()> run) {
    try {
      return run();
    } catch (const Error &error) {
      return failed(operation, std::make_shared<const Error>(error));
    }
  }

  static bool asksForSize(mlir::Operation &operation) {
    return mlir::isa<tok::RowsOp, tok::ColumnsOp, tok::LengthOp, tok::SizeOp>(operation);
  }

  static std::vector<Bounded> failed(mlir::Operation &operation,
                                     const std::shared_ptr<const Error> &failure) {
    return std::vector<Bounded>(operation.getNumResults(), Bounded{{}, {}, {}, failure});
  }

  std::vector<Bounded> computed(mlir::Operation &operation, std::vector<Bounded> operands) {
    std::vector<runtime::Value> values;
    std::vector<Tracked> engineOperands, planOperands;
    bool exact = true;
    for (const Bounded &operand : operands) {
      values.push_back(operand.value);
      engineOperands.push_back({operand.value, operand.engine});
      planOperands.push_back({operand.value, operand.plan});
      exact &= operand.engine.isExact();
    }
    std::vector<runtime::Value> plain = meaningWithOutput(operation, values, exact);
    ElementType precision = precisionOf(
        operation, owner.options_.singlePrecision ? ElementType::F32 : ElementType::F64);
    std::vector<Bounded> results;
    for (runtime::Value &value : plain) {
      if (value.isArray() && mayBeSparseIfLong(*value.array())) {
        owner.sawSmallSparse_ = true;
        owner.sawSparse_ |= value.array()->cells() >= runtime::sparseLeastCells;
      }
      Bounded result;
      try {
        result.engine = betweenEngines(precision).errorsOf(operation, engineOperands, value);
        bool exactAnywhere = result.engine.isExact() && !result.engine.product();
        result.plan = exactAnywhere
                          ? CellErrors()
                          : betweenPlans(precision, exact).errorsOf(operation, planOperands, value);
      } catch (const Undecided &undecided) {
        owner.decide(undecided.what());
        int64_t cells = value.isArray() ? value.array()->cells() : 1;
        result.engine = result.plan = CellErrors::uniform(cells, CellErrors::anything);
      }
      int64_t cells = value.isArray() ? value.array()->cells() : 1;
      if (!result.engine.covers(cells) || !result.plan.covers(cells))
        internalError(operation.getName().getStringRef().str() + ": bounds of other cells");
      result.value = std::move(value);
      results.push_back(std::move(result));
    }
    return results;
  }

  // Collects the output that the operation prints.
  std::vector<runtime::Value> meaningWithOutput(mlir::Operation &operation,
                                                const std::vector<runtime::Value> &values,
                                                bool exact) {
    std::ostringstream printed;
    std::ostream *before = std::exchange(owner.context_.output, &printed);
    auto restore = llvm::make_scope_exit([&] {
      owner.context_.output = before;
      if (!printed.str().empty())
        owner.output_.push_back({printed.str(), exact});
    });
    try {
      return reference::meaningOf(operation, values, owner.context_);
    } catch (const Error &error) {
      bool fails = mlir::isa<tok::StopOp, tok::AssertOp, tok::RaiseOp>(operation);
      bool dependsOnCells = !mlir::isa<tok::SliceOp, tok::InsertOp, tok::BinaryOp, tok::MatmulOp,
                                       tok::CastOp, tok::CbindOp, tok::RbindOp>(operation);
      if (!exact && (fails || dependsOnCells))
        throw Undecided("whether it fails, or how, depends on what is not exact: " +
                        error.message());
      throw;
    }
  }
};

BoundedInterpreter::BoundedInterpreter(mlir::ModuleOp module, runtime::ExecutionContext &context,
                                       BoundedOptions options)
    : module_(module), context_(context), options_(options) {}

void BoundedInterpreter::decide(const char *why) {
  if (!options_.takesReferenceDecisions)
    throw Undecided(why);
}

std::vector<Bounded> BoundedInterpreter::call(llvm::StringRef function,
                                              std::vector<Bounded> arguments) {
  Domain domain{*this};
  std::vector<Bounded> results =
      reference::ProgramWalk<Domain>(module_, domain).call(function, std::move(arguments));
  for (const Bounded &result : results)
    checkHasValue(result);
  return results;
}

std::vector<Bounded> BoundedInterpreter::execute(mlir::Operation &operation, Frame &frame) {
  Domain domain{*this};
  return reference::ProgramWalk<Domain>(module_, domain).execute(operation, frame);
}

} // namespace tokamak::oracle
