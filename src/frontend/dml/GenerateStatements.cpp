// Statements without control flow, and the entry and exit of a function.
#include "frontend/dml/FunctionGenerator.h"

namespace tokamak::frontend {

using llvm::cast;
using llvm::dyn_cast;
using mlir::Value;

FunctionGenerator::FunctionGenerator(ModuleGenerator &module, mlir::Block &block,
                                     StatementList body, const NameSet &outputs)
    : module_(module), builder_(mlir::OpBuilder::atBlockEnd(&block)),
      flow_(body, outputs, [&module](const CallExpression &call) {
        const Function *function = module.loader().resolve(call).function;
        return function ? function->definition : nullptr;
      }) {}

void FunctionGenerator::define(const std::string &name, Value value, SourceRange place) {
  scope_[name] = {value, place};
}

Value FunctionGenerator::output(const Parameter &output, mlir::Type declared) {
  auto found = scope_.find(output.name);
  if (found == scope_.end()) {
    module_.warning(output.nameRange, "output '" + output.name + "' is never assigned");
    return builder_.create<tok::UndefOp>(location(output.nameRange), declared, output.name);
  }
  Value value = found->second.value;
  if (value && value.getType() != declared &&
      !(tok::isScalar(value.getType()) && tok::isScalar(declared))) {
    module_
        .error(found->second.assignedAt, "output '" + output.name + "' is " + describe(value) +
                                             " here, but it is declared as " +
                                             tok::describeType(declared).str())
        .notes.push_back(module_.noteAt(output.nameRange, "it is declared here"));
    return {};
  }
  return value ? convertOutput(value, output, declared) : Value();
}

Value FunctionGenerator::convertOutput(Value value, const Parameter &output, mlir::Type declared) {
  mlir::Type type = value.getType();
  if (type == declared)
    return value;
  mlir::Location place = location(output.nameRange);
  // Giving a variable without a value back does not read it.
  if (value.getDefiningOp<tok::UndefOp>())
    return builder_.create<tok::UndefOp>(place, declared, output.name);
  if (llvm::isa<tok::StringType>(type) && declared.isIntOrFloat() && !declared.isInteger(1)) {
    module_
        .error(scope_[output.name].assignedAt, "output '" + output.name +
                                                   "' is a string here, but it is declared as " +
                                                   tok::describeType(declared).str())
        .notes.push_back(module_.noteAt(output.nameRange, "it is declared here"));
    return {};
  }
  bool mayHaveFraction = type.isF64() || llvm::isa<tok::ScalarType>(type);
  if (declared.isInteger(64) && mayHaveFraction)
    return wholeOutput(value, output);
  return castTo(value, declared, output.nameRange);
}

// A number for an `int`, which stops the program if it has a fraction: leaving that out would go unnoticed.
Value FunctionGenerator::wholeOutput(Value value, const Parameter &output) {
  SourceRange range = scope_[output.name].assignedAt;
  mlir::Location place = location(range);
  std::string message = "output '" + output.name + "' is declared as an integer, but it is ";
  Value whole = castTo(value, builder_.getI64Type(), range);
  if (std::optional<double> number = constantNumber(value)) {
    if (*number == constantNumber(whole))
      return whole;
    module_.error(range, message + "a number with a fraction here")
        .note("as.integer leaves the fraction out");
    return {};
  }
  Value hasFraction = binary(tokamak::BinaryOperator::Ne, value, whole, range);
  auto check = builder_.create<tok::IfOp>(place, mlir::TypeRange(), hasFraction);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(&check.getThenRegion().emplaceBlock());
  Value text = builder_.create<tok::ConstantOp>(place, llvm::StringRef(message));
  builder_.create<tok::StopOp>(place, binary(tokamak::BinaryOperator::Add, text, value, range));
  builder_.create<tok::YieldOp>(place, mlir::ValueRange());
  builder_.setInsertionPointToStart(&check.getElseRegion().emplaceBlock());
  builder_.create<tok::YieldOp>(place, mlir::ValueRange());
  return whole;
}

void FunctionGenerator::finish(mlir::ValueRange results, mlir::Location location) {
  builder_.create<mlir::func::ReturnOp>(location, results);
}

void FunctionGenerator::generate(StatementList statements) {
  for (const Statement *statement : statements)
    generate(*statement);
}

void FunctionGenerator::generate(const Statement &statement) {
  switch (statement.kind()) {
  case Statement::Kind::Assign:
    return generateAssign(cast<AssignStatement>(statement));
  case Statement::Kind::MultiAssign:
    return generateMultiAssign(cast<MultiAssignStatement>(statement));
  case Statement::Kind::Call:
    call(cast<CallStatement>(statement).call(), /*isStatement=*/true);
    return;
  case Statement::Kind::If:
    return generateIf(cast<IfStatement>(statement));
  case Statement::Kind::While:
    return generateWhile(cast<WhileStatement>(statement));
  case Statement::Kind::For:
    return generateFor(cast<ForStatement>(statement));
  case Statement::Kind::Ifdef:
    return generateIfdef(cast<IfdefStatement>(statement));
  case Statement::Kind::Source:
  case Statement::Kind::SetWorkingDirectory:
    return; // The loader has already handled them.
  }
}

void FunctionGenerator::generateAssign(const AssignStatement &statement) {
  const Expression &target = statement.target();
  bool isAccumulation = statement.op() == AssignOperator::Accumulate;
  if (const auto *index = dyn_cast<IndexExpression>(&target))
    return insert(*index, generate(statement.value()), isAccumulation);
  if (!isAccumulation) {
    if (const auto *expression = dyn_cast<CallExpression>(&statement.value());
        expression && flow_.givesNothing(*expression)) {
      module_.warning(target.range(), "'" + expression->callee() + "' gives no value, so '" +
                                          cast<NameExpression>(target).name() +
                                          "' has none afterwards");
      call(*expression);
      scope_.erase(cast<NameExpression>(target).name());
      return;
    }
    return assign(target, generate(statement.value()));
  }
  Value before = read(cast<NameExpression>(target).name(), target.range());
  Value value = generate(statement.value());
  bool isComplete = before && value;
  assign(target, isComplete ? binary(tokamak::BinaryOperator::Add, before, value, target.range())
                            : Value());
}

void FunctionGenerator::generateMultiAssign(const MultiAssignStatement &statement) {
  const CallExpression &expression = statement.call();
  auto values = call(expression);
  if (values && values->size() < statement.targets().size()) {
    module_.error(statement.targets()[values->size()]->range(),
                  "'" + expression.callee() + "' returns " + std::to_string(values->size()) +
                      (values->size() == 1 ? " value, " : " values, ") +
                      std::to_string(statement.targets().size()) + " are assigned");
    values.reset();
  }
  for (const auto &[position, target] : llvm::enumerate(statement.targets()))
    assign(*target, values ? (*values)[position] : Value());
}

void FunctionGenerator::generateIfdef(const IfdefStatement &statement) {
  const auto &arguments = module_.options().arguments;
  auto found = arguments.find(statement.argument().name());
  bool isGiven = found != arguments.end() && !found->second.empty();
  assign(statement.target(),
         isGiven ? argument(statement.argument()) : generate(statement.fallback()));
}

void FunctionGenerator::assign(const Expression &target, Value value) {
  if (const auto *index = dyn_cast<IndexExpression>(&target))
    return insert(*index, value, /*isAccumulation=*/false);
  const std::string &variable = cast<NameExpression>(target).name();
  nameValue(value, variable);
  scope_[variable] = {value, target.range()};
}

void FunctionGenerator::nameValue(Value value, llvm::StringRef variable) {
  mlir::Operation *definition = value ? value.getDefiningOp() : nullptr;
  if (!definition || definition->getNumResults() != 1 ||
      llvm::isa<mlir::NameLoc>(definition->getLoc()))
    return;
  definition->setLoc(mlir::NameLoc::get(builder_.getStringAttr(variable), definition->getLoc()));
}

void FunctionGenerator::insert(const IndexExpression &target, Value value, bool isAccumulation) {
  Value before = read(target.name(), target.nameRange());
  if (!before || !value) {
    if (scope_.contains(target.name()) && !value)
      scope_[target.name()].value = {};
    return;
  }
  mlir::Location place = location(target.range());
  Value after;
  if (llvm::isa<tok::ListType>(before.getType())) {
    IndexRanges index = listIndex(target);
    if (isAccumulation && !index.bounds.empty()) {
      // The element has the type of what is added to it.
      Value element = builder_
                          .create<tok::CallNativeOp>(
                              place, mlir::TypeRange(listType()), "list_slice",
                              mlir::ValueRange({before, index.bounds[0], index.bounds[1]}))
                          .getResult(0);
      mlir::Type type =
          llvm::isa<tok::StringType>(value.getType()) ? scalarType() : value.getType();
      value = binary(tokamak::BinaryOperator::Add, castTo(element, type, target.range()), value,
                     target.range());
    }
    if (!index.bounds.empty() && value)
      after = builder_
                  .create<tok::CallNativeOp>(
                      place, mlir::TypeRange(listType()), "list_insert",
                      mlir::ValueRange({before, value, index.bounds[0], index.bounds[1]}))
                  .getResult(0);
  } else if (bool isFrame = llvm::isa<tok::FrameType>(before.getType());
             !isFrame && (!tok::isArray(before.getType()) || tok::isTensor(before.getType()))) {
    module_.error(target.nameRange(), "'" + target.name() + "' can't be indexed, it is " +
                                          tok::describeType(before.getType()).str());
  } else if (IndexRanges index = matrixIndex(target, before); !index.bounds.empty()) {
    auto &bounds = index.bounds;
    if (isAccumulation) {
      Value cells = builder_.create<tok::SliceOp>(place, before.getType(), before, bounds[0],
                                                  bounds[1], bounds[2], bounds[3]);
      value = binary(tokamak::BinaryOperator::Add, cells, value, target.range());
    }
    if (value && isFrame && !tok::isScalar(value.getType()))
      value =
          convert(value, ParameterType::Frame, "cells of '" + target.name() + "'", target.range());
    else if (value && !isFrame &&
             (!tok::isArray(value.getType()) || tok::isTensor(value.getType())))
      value = convert(value, ParameterType::Double, "a cell of '" + target.name() + "'",
                      target.range());
    if (value)
      after = builder_.create<tok::InsertOp>(place, before.getType(), before, value, bounds[0],
                                             bounds[1], bounds[2], bounds[3]);
  }
  scope_[target.name()] = {after, target.range()};
}

} // namespace tokamak::frontend
