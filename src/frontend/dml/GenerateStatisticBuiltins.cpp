// Builtins of statistics and linear algebra whose translation depends on the arguments of the call.
#include "frontend/dml/FunctionGenerator.h"

namespace tokamak::frontend {

using mlir::Value;

// mean(X) and the weighted mean(X, w) = sum(X * w) / sum(w).
Value FunctionGenerator::emitMean(BuiltinCall &call) {
  Value cells = call.operands[0], weights = call.operands[1];
  auto aggregate = [&](AggregateKind kind, Value operand) -> Value {
    return builder_.create<tok::AggregateOp>(call.location, kind, AggregateDirection::Full,
                                             operand);
  };
  if (!weights)
    return aggregate(AggregateKind::Mean, cells);
  SourceRange place = call.expression.calleeRange();
  Value weighted = binary(tokamak::BinaryOperator::Mul, cells, weights, place);
  return binary(tokamak::BinaryOperator::Div, aggregate(AggregateKind::Sum, weighted),
                aggregate(AggregateKind::Sum, weights), place);
}

// moment(x, k), moment(x, w, k), quantile(x, p), quantile(x, w, p).
Value FunctionGenerator::emitWeighted(BuiltinCall &call) {
  Value weights = call.operands[1], last = call.operands[2];
  if (!last)
    last = std::exchange(weights, Value());
  if (!last) {
    module_.error(call.expression.calleeRange(),
                  "'" + call.builtin.name.str() + "' needs a value for '" +
                      call.builtin.parameters().back().name.str() + "'");
    return {};
  }
  SourceRange place = call.arguments[weights ? 2 : 1]->value->range();
  std::string name = "'" + call.builtin.name.str() + "'";
  bool isMoment = call.builtin.name == "moment";
  last = convert(last, isMoment ? ParameterType::Integer : ParameterType::Cell, name, place);
  if (weights)
    weights = convert(weights, ParameterType::Matrix, "'w' of " + name,
                      call.arguments[1]->value->range());
  else
    weights = none(call.location);
  if (!weights || !last)
    return {};
  mlir::Type type = tok::isArray(last.getType()) ? mlir::Type(matrixType()) : builder_.getF64Type();
  return native(call, call.builtin.name, type, {call.operands[0], weights, last});
}

// cdf(target, dist, parameters...) and its short forms: pnorm is "cdf normal". The operands of the
// native are distribution, target, mean, sd, df, df1, df2, rate and lower.tail; absent ones are
// none.
Value FunctionGenerator::emitDistribution(BuiltinCall &call) {
  auto [function, distribution] = call.builtin.target.split(' ');
  auto parameters = call.builtin.parameters();
  auto argument = [&](llvm::StringRef name) -> Value {
    for (auto [parameter, operand] : llvm::zip(parameters, call.operands))
      if (parameter.name == name)
        return operand ? operand : none(call.location);
    return none(call.location);
  };
  llvm::SmallVector<Value> operands;
  operands.push_back(distribution.empty()
                         ? argument("dist")
                         : Value(builder_.create<tok::ConstantOp>(call.location, distribution)));
  for (llvm::StringRef name : {"target", "mean", "sd", "df", "df1", "df2", "rate", "lower.tail"})
    operands.push_back(argument(name));
  return native(call, function, builder_.getF64Type(), operands);
}

// [values, vectors] = eigen(A) and similar builtins: returns the native's first result, from which
// the caller finds the others.
Value FunctionGenerator::emitDecomposition(BuiltinCall &call) {
  bool isPair = call.builtin.name == "eigen" || call.builtin.name == "qr";
  llvm::SmallVector<mlir::Type> types(isPair ? 2 : 3, matrixType());
  return builder_
      .create<tok::CallNativeOp>(call.location, types, call.builtin.target, call.operands)
      .getResult(0);
}

// fft(X), ifft(re, im), their forms for each row, and stft(X, im, windowSize, overlap), of which `im` may be absent. The
// results are the real and the imaginary part.
Value FunctionGenerator::emitFourier(BuiltinCall &call) {
  llvm::StringRef name = call.builtin.name;
  llvm::SmallVector<mlir::Type> types(2, matrixType());
  auto flag = [&](bool value) -> Value {
    return builder_.create<tok::ConstantOp>(call.location, value);
  };
  llvm::SmallVector<Value> operands;
  if (name == "stft") {
    Value imaginary = call.operands[1], window = call.operands[2], overlap = call.operands[3];
    if (tok::isScalar(imaginary.getType())) {
      overlap = window;
      window = convert(imaginary, ParameterType::Integer, "'windowSize' of 'stft'",
                       call.arguments[1]->value->range());
      imaginary = none(call.location);
    }
    if (!window)
      return {};
    operands = {call.operands[0], imaginary, window,
                overlap ? overlap : constant(0, call.location)};
  } else {
    bool hasPart = call.operands.size() > 1 && call.operands[1];
    operands = {call.operands[0], hasPart ? call.operands[1] : none(call.location),
                flag(name.starts_with("ifft")), flag(!name.ends_with("_linearized"))};
  }
  return builder_
      .create<tok::CallNativeOp>(call.location, types,
                                 name == "stft" ? "short_time_fourier" : "fourier", operands)
      .getResult(0);
}

// Over all cells the result is a number, over rows or columns a vector. Builtins that only promise
// an estimate count exactly here.
Value FunctionGenerator::emitCountDistinct(BuiltinCall &call) {
  std::string direction = call.builtin.target.str();
  if (direction.empty()) {
    auto given = constantText(call.operands.back());
    if (!given) {
      const CallArgument *argument = call.arguments.back();
      module_.unsupported(argument ? argument->value->range() : call.expression.calleeRange(),
                          "a direction that is not a literal");
      return {};
    }
    direction = given->str();
  }
  mlir::Type type = direction == "rc" ? mlir::Type(builder_.getI64Type()) : matrixType();
  Value text = builder_.create<tok::ConstantOp>(call.location, llvm::StringRef(direction));
  return native(call, "count_distinct", type, {call.operands[0], text});
}

// ppred(X, Y, "<"): a comparison written as a function.
Value FunctionGenerator::emitComparison(BuiltinCall &call) {
  auto name = constantText(call.operands[2]);
  auto op = name ? findBinaryBySpelling(std::string_view(name->data(), name->size()))
                 : std::optional<tokamak::BinaryOperator>();
  if (!op) {
    module_.error(call.arguments[2]->value->range(),
                  "'ppred' needs the comparison as a literal: \"==\", \"!=\", \"<\", \"<=\", "
                  "\">\" or \">=\"");
    return {};
  }
  return binary(*op, call.operands[0], call.operands[1], call.expression.calleeRange());
}

} // namespace tokamak::frontend
