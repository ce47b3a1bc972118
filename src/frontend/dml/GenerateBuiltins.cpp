// Generates the operations that calls of builtins become.
#include "frontend/dml/FunctionGenerator.h"

#include "base/Error.h"

#include "llvm/ADT/StringSwitch.h"

namespace tokamak::frontend {

using llvm::dyn_cast;
using mlir::Value;

Value FunctionGenerator::callBuiltin(const CallExpression &expression, const Builtin &builtin) {
  if (!builtin.isSupported() && !builtin.target.empty()) {
    module_.error(expression.calleeRange(), "'" + expression.callee() +
                                                "' is a name without a meaning: use " +
                                                builtin.target.str());
    return {};
  }
  if (!builtin.isSupported()) {
    module_.unsupported(expression.calleeRange(), "'" + expression.callee() + "'");
    return {};
  }
  // The argument of exists is a name that may be unknown: it must not be evaluated.
  if (builtin.name == "exists")
    return emitExists(expression);
  std::optional<BuiltinCall> call = evaluate(expression, builtin);
  return call ? emitBuiltin(*call) : Value();
}

mlir::Type FunctionGenerator::resultType(const BuiltinCall &call) {
  switch (call.builtin.result) {
  case BuiltinResult::None:
    return {};
  case BuiltinResult::Matrix:
    return matrixType();
  case BuiltinResult::Integer:
    return builder_.getI64Type();
  case BuiltinResult::Double:
    return builder_.getF64Type();
  case BuiltinResult::Boolean:
    return builder_.getI1Type();
  case BuiltinResult::String:
    return tok::StringType::get(module_.context());
  case BuiltinResult::List:
    return listType();
  case BuiltinResult::Frame:
    return frameType();
  case BuiltinResult::Derived:
    break;
  }
  llvm_unreachable("the type of this result depends on the operands");
}

Value FunctionGenerator::emitBuiltin(BuiltinCall &call) {
  llvm::StringRef target = call.builtin.target;
  std::string_view name(target.data(), target.size());
  switch (call.builtin.kind) {
  case BuiltinKind::Unary: {
    auto op = *findUnaryOperator(name);
    Value operand = call.operands[0];
    if (tok::isArray(operand.getType()))
      return builder_.create<tok::UnaryOp>(call.location, op, operand);
    return builder_.createOrFold<tok::UnaryOp>(call.location, op, operand);
  }
  case BuiltinKind::Binary:
    return binary(*findBinaryOperator(name), call.operands[0], call.operands[1],
                  call.expression.calleeRange());
  case BuiltinKind::Aggregate: {
    auto kind = *findAggregateKind(name.substr(0, name.find(' ')));
    auto direction = *findAggregateDirection(name.substr(name.find(' ') + 1));
    return builder_.create<tok::AggregateOp>(call.location, kind, direction, call.operands[0]);
  }
  case BuiltinKind::Operation:
    return emitOperation(call);
  case BuiltinKind::Native: {
    for (Value &operand : call.operands)
      if (!operand)
        operand = none(call.location);
    return builder_
        .create<tok::CallNativeOp>(call.location, mlir::TypeRange(resultType(call)), target,
                                   call.operands)
        .getResult(0);
  }
  case BuiltinKind::Special:
    return emitSpecial(call);
  case BuiltinKind::Library: // is called as a function of the library
  case BuiltinKind::Unsupported:
    break;
  }
  llvm_unreachable("calls that can't run have been refused");
}

Value FunctionGenerator::emitOperation(BuiltinCall &call) {
  // Unsupported parameters have no operand in the operation.
  llvm::SmallVector<Value> operands;
  for (auto [parameter, operand] : llvm::zip_equal(call.builtin.parameters(), call.operands))
    if (parameter.presence != ParameterPresence::Unsupported)
      operands.push_back(operand ? operand : none(call.location));

  mlir::Type type;
  if (call.builtin.result == BuiltinResult::Derived) {
    type =
        tok::ifElseResultType(operands[0].getType(), operands[1].getType(), operands[2].getType());
    if (!type) {
      module_.error(call.expression.calleeRange(),
                    "'ifelse' is not defined for " + describe(operands[0]) + ", " +
                        describe(operands[1]) + " and " + describe(operands[2]));
      return {};
    }
    // With one integer branch and one double branch the result is a double, whichever is chosen.
    if (type.isF64())
      for (size_t branch : {1, 2})
        operands[branch] = castTo(operands[branch], type, placeOf(*call.arguments[branch]));
  } else {
    type = resultType(call);
  }
  bool isSize = call.builtin.group == BuiltinGroup::Sizes && call.builtin.name != "length";
  if (isSize && !refuseTensor(call, 0))
    return {};
  if (isSize && tok::isScalar(operands[0].getType())) {
    module_.error(placeOf(*call.arguments[0]), "'" + call.builtin.name.str() +
                                                   "' needs a matrix or a list, got " +
                                                   describe(operands[0]));
    return {};
  }
  mlir::OperationState state(call.location, "tok." + call.builtin.target.str());
  state.addOperands(operands);
  if (type)
    state.addTypes(type);
  mlir::Operation *operation = builder_.create(state);
  if (auto choice = llvm::dyn_cast<tok::IfElseOp>(operation))
    choice.setOneWhole(llvm::count_if(choice->getOperandTypes(), tok::isArray) > 1);
  return type ? Value(operation->getResult(0)) : Value();
}

Value FunctionGenerator::emitSpecial(BuiltinCall &call) {
  using Emit = Value (FunctionGenerator::*)(BuiltinCall &);
  Emit emit =
      llvm::StringSwitch<Emit>(call.builtin.name)
          .Cases("read", "readMM", &FunctionGenerator::emitRead)
          .Case("write", &FunctionGenerator::emitWrite)
          .Case("print", &FunctionGenerator::emitPrint)
          .Case("matrix", &FunctionGenerator::emitMatrix)
          .Case("seq", &FunctionGenerator::emitSeq)
          .Case("tensor", &FunctionGenerator::emitTensor)
          .Case("rand", &FunctionGenerator::emitRand)
          .Case("sample", &FunctionGenerator::emitSample)
          .Case("list", &FunctionGenerator::emitList)
          .Cases("as.scalar", "as.matrix", "as.list", &FunctionGenerator::emitConversion)
          .Cases("as.double", "as.integer", "as.logical", &FunctionGenerator::emitConversion)
          .Cases("cbind", "rbind", &FunctionGenerator::emitBind)
          .Case("table", &FunctionGenerator::emitTable)
          .Case("outer", &FunctionGenerator::emitOuter)
          .Cases("min", "max", &FunctionGenerator::emitExtremum)
          .Case("log", &FunctionGenerator::emitLog)
          .Cases("moment", "quantile", &FunctionGenerator::emitWeighted)
          .Case("remove", &FunctionGenerator::emitRemove)
          .Case("as.frame", &FunctionGenerator::emitAsFrame)
          .Case("replace", &FunctionGenerator::emitReplace)
          .Case("removeEmpty", &FunctionGenerator::emitRemoveEmpty)
          .Case("mean", &FunctionGenerator::emitMean)
          .Cases("qr", "lu", "eigen", "svd", &FunctionGenerator::emitDecomposition)
          .Cases("countDistinct", "rowCountDistinct", "colCountDistinct",
                 &FunctionGenerator::emitCountDistinct)
          .Cases("countDistinctApprox", "rowCountDistinctApprox", "colCountDistinctApprox",
                 &FunctionGenerator::emitCountDistinct)
          .Case("ppred", &FunctionGenerator::emitComparison)
          .Cases("fft", "ifft", "fft_linearized", "ifft_linearized", "stft",
                 &FunctionGenerator::emitFourier)
          .Cases("conv2d", "conv2d_backward_filter", "conv2d_backward_data",
                 &FunctionGenerator::emitWindows)
          .Cases("max_pool", "avg_pool", "max_pool_backward", "avg_pool_backward",
                 &FunctionGenerator::emitWindows)
          .Case("einsum", &FunctionGenerator::emitEinsum)
          .Cases("transformencode", "transformapply", "transformdecode",
                 &FunctionGenerator::emitTransform)
          .Cases("transformcolmap", "getCategoricalMask", &FunctionGenerator::emitTransform)
          .Cases("eval", "evalList", &FunctionGenerator::emitEval)
          .Case("autoDiff", &FunctionGenerator::emitAutoDiff)
          .Cases("compress", "decompress", "local", &FunctionGenerator::emitIdentity)
          .Default(nullptr);
  llvm::StringRef target = call.builtin.target;
  if (!emit && (target.starts_with("cdf") || target.starts_with("icdf")))
    emit = &FunctionGenerator::emitDistribution;
  if (!emit)
    internalError("no code for the builtin " + call.builtin.name.str());
  return (this->*emit)(call);
}

//===-- Constructors --===//

std::optional<bool> FunctionGenerator::literalByRow(BuiltinCall &call, size_t position) {
  std::optional<bool> byRow = constantBoolean(call.operands[position]);
  if (!byRow)
    module_.unsupported(placeOf(*call.arguments[position]), "a 'byrow' that is not a literal");
  return byRow;
}

Value FunctionGenerator::filled(BuiltinCall &call, Value rows, Value columns) {
  Value number = call.operands[0];
  if (tok::isNumber(number.getType()))
    number = castTo(number, builder_.getF64Type(), placeOf(*call.arguments[0]));
  else if (!llvm::isa<tok::ScalarType>(number.getType()))
    return {};
  return builder_.create<tok::FillOp>(call.location, matrixType(), number, rows, columns);
}

Value FunctionGenerator::emitMatrix(BuiltinCall &call) {
  Value data = call.operands[0], rows = call.operands[1], columns = call.operands[2];
  mlir::Type type = data.getType();
  if (llvm::isa<tok::StringType>(type)) {
    std::optional<bool> byRow = literalByRow(call, 3);
    if (!byRow)
      return {};
    if (*byRow)
      return builder_.create<tok::ParseMatrixOp>(call.location, matrixType(), data, rows, columns);
    Value transposed =
        builder_.create<tok::ParseMatrixOp>(call.location, matrixType(), data, columns, rows);
    return builder_.create<tok::TransposeOp>(call.location, matrixType(), transposed);
  }
  if (Value matrix = filled(call, rows, columns))
    return matrix;
  if (tok::isTensor(type)) { // its cells as a column
    Value count = builder_.create<tok::LengthOp>(call.location, builder_.getI64Type(), data);
    data = builder_.create<tok::ViewOp>(call.location, matrixType(), data,
                                        mlir::ValueRange{count, constant(1, call.location)});
  }
  if (tok::isArray(type))
    return builder_.create<tok::ReshapeOp>(call.location, matrixType(), data, rows, columns,
                                           call.operands[3]);
  module_.error(placeOf(*call.arguments[0]),
                "a matrix is made of a scalar, a string, a matrix or a tensor, got " +
                    describe(data));
  return {};
}

Value FunctionGenerator::emitSeq(BuiltinCall &call) {
  Value increment = call.operands[2] ? call.operands[2] : none(call.location);
  return builder_.create<tok::SeqOp>(call.location, matrixType(), call.operands[0],
                                     call.operands[1], increment);
}

// The third argument is `replace` if it is a boolean, else the seed.
Value FunctionGenerator::emitSample(BuiltinCall &call) {
  Value replace = call.operands[2], seed = call.operands[3];
  if (replace && llvm::isa<tok::ScalarType>(replace.getType())) {
    module_
        .error(placeOf(*call.arguments[2]),
               "expected a boolean for 'replace' of 'sample' or an integer for its seed, got a "
               "scalar whose type is known only when the program runs")
        .note("as.logical makes it 'replace', as.integer the seed");
    return {};
  }
  bool isSeed = replace && !replace.getType().isInteger(1);
  if (isSeed && call.arguments[3]) {
    module_.error(placeOf(*call.arguments[2]),
                  "expected a boolean for 'replace' of 'sample', got " + describe(replace));
    return {};
  }
  if (isSeed)
    seed = convert(std::exchange(replace, Value()), ParameterType::Integer, "'seed' of 'sample'",
                   placeOf(*call.arguments[2]));
  if (!seed)
    return {};
  if (!replace)
    replace = builder_.create<tok::ConstantOp>(call.location, false);
  return builder_.create<tok::SampleOp>(call.location, matrixType(), call.operands[0],
                                        call.operands[1], replace, seed);
}

Value FunctionGenerator::emitList(BuiltinCall &call) {
  std::string names;
  size_t named = 0;
  for (const CallArgument *argument : call.arguments) {
    named += argument->isNamed();
    names += (names.empty() ? "" : ",") + argument->name;
  }
  if (named != 0 && named != call.arguments.size()) {
    module_.error(call.expression.calleeRange(),
                  "either all elements of a list have names or none");
    return {};
  }
  Value nameOperand =
      named == 0 ? none(call.location)
                 : Value(builder_.create<tok::ConstantOp>(call.location, llvm::StringRef(names)));
  return builder_.create<tok::ListOp>(call.location, listType(), nameOperand, call.operands);
}

//===-- Sizes and conversions --===//

Value FunctionGenerator::emitExists(const CallExpression &call) {
  const auto &arguments = call.arguments();
  const Expression *argument = arguments.size() == 1 ? arguments.front().value : nullptr;
  const auto *name = argument ? dyn_cast<NameExpression>(argument) : nullptr;
  const auto *text = argument ? dyn_cast<StringLiteral>(argument) : nullptr;
  if (!name && !text) {
    module_.error(call.calleeRange(), "'exists' takes the name of one variable");
    return {};
  }
  auto found = scope_.find(name ? name->name() : text->value());
  bool isKnown = found != scope_.end();
  if (isKnown && found->second.mayBeUnassigned && found->second.value)
    return builder_
        .create<tok::CallNativeOp>(location(call.calleeRange()),
                                   mlir::TypeRange(builder_.getI1Type()), "is_assigned",
                                   found->second.value)
        .getResult(0);
  return builder_.create<tok::ConstantOp>(location(call.calleeRange()), isKnown);
}

Value FunctionGenerator::emitConversion(BuiltinCall &call) {
  Value operand = call.operands[0];
  mlir::Type type = operand.getType();
  SourceRange place = call.expression.calleeRange();
  llvm::StringRef name = call.builtin.name;
  if (name == "as.list")
    return builder_
        .create<tok::CallNativeOp>(call.location, mlir::TypeRange(listType()), "list_element",
                                   operand)
        .getResult(0);
  if (name == "as.scalar") {
    if (tok::isScalar(type))
      return operand;
    return castTo(operand, tok::isArray(type) ? mlir::Type(builder_.getF64Type()) : scalarType(),
                  place);
  }
  if (name == "as.matrix" && llvm::isa<tok::StringType>(type)) {
    module_
        .error(placeOf(*call.arguments[0]), "a string can't be turned into a matrix by 'as.matrix'")
        .note("matrix(\"1 2 3\", rows=1, cols=3) reads a matrix from a string");
    return {};
  }
  return refuseTensor(call, 0) ? castTo(operand, resultType(call), place) : Value();
}

//===-- Matrices --===//

Value FunctionGenerator::emitBind(BuiltinCall &call) {
  if (call.operands.empty()) {
    module_.error(call.expression.calleeRange(),
                  "'" + call.builtin.name.str() + "' needs at least one argument");
    return {};
  }
  auto isA = [](auto kind) {
    return [](Value value) { return llvm::isa<decltype(kind)>(value.getType()); };
  };
  bool isList = isA(tok::ListType())(call.operands[0]) && call.operands.size() > 1;
  bool isText = llvm::all_of(call.operands, isA(tok::StringType()));
  if (!isList && llvm::any_of(call.operands, isA(tok::FrameType())))
    return emitBindFrames(call);
  if (!isList && !isText) {
    for (auto [operand, argument] : llvm::zip(call.operands, call.arguments)) {
      bool isSingleList = isA(tok::ListType())(operand) && call.operands.size() == 1;
      if (isSingleList || convert(operand, ParameterType::Cell,
                                  "'" + call.expression.callee() + "'", placeOf(*argument)))
        continue;
      return {};
    }
  }
  mlir::Type type = isList   ? listType()
                    : isText ? call.operands[0].getType()
                             : mlir::Type(matrixType());
  if (call.builtin.name == "cbind")
    return builder_.create<tok::CbindOp>(call.location, type, call.operands);
  return builder_.create<tok::RbindOp>(call.location, type, call.operands);
}

// The forms table(a, b), (a, b, w), (a, b, rows, columns), (a, b, w, rows, columns): two arguments
// after the keys are the sizes; of three, the last two are the sizes.
Value FunctionGenerator::emitTable(BuiltinCall &call) {
  Value weights = call.operands[2], rows = call.operands[3], columns = call.operands[4];
  if (weights && !rows != !columns) {
    columns = columns ? columns : rows;
    rows =
        convert(weights, ParameterType::Integer, "'odim1' of 'table'", placeOf(*call.arguments[2]));
    weights = {};
    if (!rows)
      return {};
  }
  if (!rows != !columns) {
    module_.error(call.expression.calleeRange(),
                  "'table' needs both sizes, 'odim1' and 'odim2', or none");
    return {};
  }
  auto orNone = [&](Value value) { return value ? value : none(call.location); };
  auto asDouble = [&](Value value, size_t position) {
    bool isScalar = value && tok::isScalar(value.getType());
    return isScalar ? castTo(value, builder_.getF64Type(), placeOf(*call.arguments[position]))
                    : value;
  };
  Value columnKeys = asDouble(call.operands[1], 1);
  weights = orNone(asDouble(weights, 2));
  rows = orNone(rows);
  columns = orNone(columns);
  return builder_.create<tok::TableOp>(call.location, matrixType(), call.operands[0], columnKeys,
                                       weights, rows, columns);
}

Value FunctionGenerator::emitOuter(BuiltinCall &call) {
  auto name = constantText(call.operands[2]);
  Value u = call.operands[0], v = call.operands[1], spelled = call.operands[2];
  if (name && *name == "log") { // to a base, as log(x, base)
    for (Value *operand : {&u, &v})
      *operand =
          builder_.create<tok::UnaryOp>(call.location, tokamak::UnaryOperator::Log, *operand);
    spelled = builder_.create<tok::ConstantOp>(call.location, llvm::StringRef("/"));
  } else if (name && !findBinaryBySpelling(std::string_view(name->data(), name->size()))) {
    module_
        .error(placeOf(*call.arguments[2]),
               "'" + name->str() + "' is not an operator that 'outer' knows")
        .note(
            "it knows + - * / ^ %% %/% == != < <= > >= & | min max xor log bitwAnd bitwOr bitwXor "
            "bitwShiftL bitwShiftR");
    return {};
  }
  return builder_.create<tok::OuterOp>(call.location, matrixType(), u, v, spelled);
}

//===-- Numbers --===//

Value FunctionGenerator::emitExtremum(BuiltinCall &call) {
  bool isMin = call.builtin.name == "min";
  if (call.operands.empty()) {
    module_.error(call.expression.calleeRange(),
                  "'" + call.expression.callee() + "' needs at least one argument");
    return {};
  }
  if (call.operands.size() == 1) {
    Value matrix = convert(call.operands[0], ParameterType::Array,
                           "'" + call.expression.callee() + "'", placeOf(*call.arguments[0]));
    if (!matrix)
      return {};
    return builder_.create<tok::AggregateOp>(call.location,
                                             isMin ? AggregateKind::Min : AggregateKind::Max,
                                             AggregateDirection::Full, matrix);
  }
  auto op = isMin ? tokamak::BinaryOperator::Min : tokamak::BinaryOperator::Max;
  Value result = call.operands[0];
  for (Value operand : llvm::drop_begin(call.operands))
    result = result ? binary(op, result, operand, call.expression.calleeRange()) : result;
  return result;
}

// With a base: ln x / ln b. With two integer operands the result is an integer.
Value FunctionGenerator::emitLog(BuiltinCall &call) {
  auto naturalLog = [&](Value operand) -> Value {
    return builder_.create<tok::UnaryOp>(call.location, tokamak::UnaryOperator::Log, operand);
  };
  Value logarithm = naturalLog(call.operands[0]), base = call.operands[1];
  if (!base)
    return logarithm;
  return binary(tokamak::BinaryOperator::Div, logarithm, naturalLog(base),
                call.expression.calleeRange());
}

// eval("f", a, b, ...) and evalList: the function is found when the call is reached.
Value FunctionGenerator::emitEval(BuiltinCall &call) {
  std::string native = call.builtin.name == "eval" ? "eval" : "eval_list", names;
  if (call.operands.empty() || call.arguments[0]->isNamed()) {
    module_.error(call.expression.calleeRange(),
                  "'" + call.expression.callee() + "' needs the name of a function first");
    return {};
  }
  Value function = convert(call.operands[0], ParameterType::String,
                           "'" + call.expression.callee() + "'", placeOf(*call.arguments[0]));
  if (!function)
    return {};
  for (const CallArgument *argument : llvm::drop_begin(call.arguments))
    names += argument->name + ",";
  auto text = [&](llvm::StringRef value) {
    return builder_.create<tok::ConstantOp>(call.location, value);
  };
  llvm::SmallVector<Value> operands = {
      function, text(module_.loader().fileOf(call.expression).path), text(names)};
  llvm::append_range(operands, llvm::drop_begin(call.operands));
  return this->native(call, native, resultType(call), operands);
}

// Compression and the place of data decide how they are kept, not what they are.
Value FunctionGenerator::emitIdentity(BuiltinCall &call) { return call.operands[0]; }

// Its two results are the list without the element, and a list of only that element.
Value FunctionGenerator::emitRemove(BuiltinCall &call) {
  mlir::Type types[] = {listType(), listType()};
  return builder_
      .create<tok::CallNativeOp>(call.location, mlir::TypeRange(types), "list_remove",
                                 mlir::ValueRange(call.operands))
      .getResult(0);
}

} // namespace tokamak::frontend
