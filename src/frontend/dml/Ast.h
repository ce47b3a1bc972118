// The syntax tree of a DML file, as the parser builds it: names are not resolved and nothing is
// typed. Nodes live in the arena of their program, never change, and carry a Kind for isa/dyn_cast
// and the source range that they were parsed from.
//
//   if (auto *call = llvm::dyn_cast<CallExpression>(&expression))
//     for (const CallArgument &argument : call->arguments())
//       visit(*argument.value);
#ifndef TOKAMAK_FRONTEND_DML_AST_H
#define TOKAMAK_FRONTEND_DML_AST_H

#include "frontend/dml/Source.h"
#include "frontend/dml/SyntaxArena.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Casting.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tokamak::frontend {

//===-- Expressions --===//

/// No expression tree of a parsed program is higher than this, so that recursive visitors need no
/// depth check of their own.
constexpr uint32_t maximumExpressionHeight = 1024;

/// Parentheses, calls, indexes, prefix operators and blocks nest at most this deep.
constexpr uint32_t maximumNestingDepth = 256;

class Expression {
public:
  enum class Kind {
    Integer,
    Double,
    String,
    Boolean,
    Argument,
    Name,
    Index,
    Call,
    Unary,
    Binary,
    List
  };

  Kind kind() const { return kind_; }
  SourceRange range() const { return range_; }

  /// The height of the tree rooted at this node; a leaf has height 1.
  uint32_t height() const { return height_; }

protected:
  Expression(Kind kind, SourceRange range) : kind_(kind), range_(range) {}

  void holdChild(const Expression *child) {
    if (child)
      height_ = std::max(height_, child->height() + 1);
  }

private:
  Kind kind_;
  SourceRange range_;
  uint32_t height_ = 1;
};

/// A literal of C++ type T. A sign before a number literal is folded into it.
template <typename T, Expression::Kind literalKind> class LiteralExpression : public Expression {
public:
  LiteralExpression(SourceRange range, T value) : Expression(literalKind, range), value_(value) {}

  T value() const { return value_; }
  static bool classof(const Expression *e) { return e->kind() == literalKind; }

private:
  T value_;
};

using IntegerLiteral = LiteralExpression<int64_t, Expression::Kind::Integer>;
/// Also stands for the constants pi, Inf and NaN.
using DoubleLiteral = LiteralExpression<double, Expression::Kind::Double>;
/// The value is without quotes and with escapes replaced.
using StringLiteral = LiteralExpression<const std::string &, Expression::Kind::String>;
using BooleanLiteral = LiteralExpression<bool, Expression::Kind::Boolean>;

/// A command line argument: `$name` or `$1`.
class ArgumentExpression : public Expression {
public:
  ArgumentExpression(SourceRange range, const std::string &name)
      : Expression(Kind::Argument, range), name_(name) {}

  /// Without the dollar sign.
  const std::string &name() const { return name_; }
  static bool classof(const Expression *e) { return e->kind() == Kind::Argument; }

private:
  const std::string &name_;
};

/// A variable.
class NameExpression : public Expression {
public:
  NameExpression(SourceRange range, const std::string &name)
      : Expression(Kind::Name, range), name_(name) {}

  const std::string &name() const { return name_; }
  static bool classof(const Expression *e) { return e->kind() == Kind::Name; }

private:
  const std::string &name_;
};

/// One position of an index: all (both null), a single one (upper null), or a range lower:upper.
struct IndexDimension {
  const Expression *lower = nullptr;
  const Expression *upper = nullptr;
  SourceRange range;

  bool isAll() const { return !lower; }
  bool isSingle() const { return lower && !upper; }
  bool isRange() const { return lower && upper; }
};

/// `name[dimensions]` with one dimension (of a list, or the rows of a matrix or frame) or two. A
/// single dimension (as in L[i]) is never "all".
class IndexExpression : public Expression {
public:
  IndexExpression(SourceRange range, const std::string &name, SourceRange nameRange,
                  llvm::ArrayRef<IndexDimension> dimensions)
      : Expression(Kind::Index, range), name_(name), nameRange_(nameRange),
        dimensions_(dimensions) {
    for (const IndexDimension &dimension : dimensions_) {
      holdChild(dimension.lower);
      holdChild(dimension.upper);
    }
  }

  const std::string &name() const { return name_; }
  SourceRange nameRange() const { return nameRange_; }
  llvm::ArrayRef<IndexDimension> dimensions() const { return dimensions_; }
  static bool classof(const Expression *e) { return e->kind() == Kind::Index; }

private:
  const std::string &name_;
  SourceRange nameRange_;
  llvm::ArrayRef<IndexDimension> dimensions_;
};

/// One argument of a call; `name` is empty where it is positional.
struct CallArgument {
  const std::string &name;
  SourceRange nameRange;
  const Expression *value;

  bool isNamed() const { return !name.empty(); }
};

/// `callee(arguments)`; the callee may be qualified (`ns::f`).
class CallExpression : public Expression {
public:
  CallExpression(SourceRange range, const std::string &callee, SourceRange calleeRange,
                 llvm::ArrayRef<CallArgument> arguments)
      : Expression(Kind::Call, range), callee_(callee), calleeRange_(calleeRange),
        arguments_(arguments) {
    for (const CallArgument &argument : arguments_)
      holdChild(argument.value);
  }

  const std::string &callee() const { return callee_; }
  SourceRange calleeRange() const { return calleeRange_; }
  llvm::ArrayRef<CallArgument> arguments() const { return arguments_; }
  static bool classof(const Expression *e) { return e->kind() == Kind::Call; }

private:
  const std::string &callee_;
  SourceRange calleeRange_;
  llvm::ArrayRef<CallArgument> arguments_;
};

enum class UnaryOperator { Minus, Plus, Not };

class UnaryExpression : public Expression {
public:
  UnaryExpression(SourceRange range, UnaryOperator op, SourceRange operatorRange,
                  const Expression *operand)
      : Expression(Kind::Unary, range), op_(op), operatorRange_(operatorRange), operand_(operand) {
    holdChild(operand_);
  }

  UnaryOperator op() const { return op_; }
  SourceRange operatorRange() const { return operatorRange_; }
  const Expression &operand() const { return *operand_; }
  static bool classof(const Expression *e) { return e->kind() == Kind::Unary; }

private:
  UnaryOperator op_;
  SourceRange operatorRange_;
  const Expression *operand_;
};

/// `&&` and `||` are read as And and Or.
enum class BinaryOperator {
  Power,
  MatrixMultiply,
  Modulus,
  IntegerDivide,
  Multiply,
  Divide,
  Add,
  Subtract,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or
};

/// The spelling of an operator in DML: `%*%`, `!`.
const char *spelling(BinaryOperator op);
const char *spelling(UnaryOperator op);

class BinaryExpression : public Expression {
public:
  BinaryExpression(SourceRange range, BinaryOperator op, SourceRange operatorRange,
                   const Expression *left, const Expression *right)
      : Expression(Kind::Binary, range), op_(op), operatorRange_(operatorRange), left_(left),
        right_(right) {
    holdChild(left_);
    holdChild(right_);
  }

  BinaryOperator op() const { return op_; }
  SourceRange operatorRange() const { return operatorRange_; }
  const Expression &left() const { return *left_; }
  const Expression &right() const { return *right_; }
  static bool classof(const Expression *e) { return e->kind() == Kind::Binary; }

private:
  BinaryOperator op_;
  SourceRange operatorRange_;
  const Expression *left_;
  const Expression *right_;
};

/// `[e1, e2, ...]`, the same as list(e1, e2, ...); never empty.
class ListExpression : public Expression {
public:
  ListExpression(SourceRange range, llvm::ArrayRef<const Expression *> elements)
      : Expression(Kind::List, range), elements_(elements) {
    for (const Expression *element : elements_)
      holdChild(element);
  }

  llvm::ArrayRef<const Expression *> elements() const { return elements_; }
  static bool classof(const Expression *e) { return e->kind() == Kind::List; }

private:
  llvm::ArrayRef<const Expression *> elements_;
};

//===-- Statements --===//

class Statement {
public:
  enum class Kind { Assign, MultiAssign, Call, If, While, For, Ifdef, Source, SetWorkingDirectory };

  Kind kind() const { return kind_; }
  SourceRange range() const { return range_; }

protected:
  Statement(Kind kind, SourceRange range) : kind_(kind), range_(range) {}

private:
  Kind kind_;
  SourceRange range_;
};

using StatementList = llvm::ArrayRef<const Statement *>;

enum class AssignOperator { Assign, Accumulate };

/// `target = value` or `target += value`; the target is a NameExpression or an IndexExpression.
class AssignStatement : public Statement {
public:
  AssignStatement(SourceRange range, const Expression *target, AssignOperator op,
                  const Expression *value)
      : Statement(Kind::Assign, range), target_(target), op_(op), value_(value) {}

  const Expression &target() const { return *target_; }
  AssignOperator op() const { return op_; }
  const Expression &value() const { return *value_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::Assign; }

private:
  const Expression *target_;
  AssignOperator op_;
  const Expression *value_;
};

/// `[target, ...] = call(...)`; each target is a NameExpression or an IndexExpression.
class MultiAssignStatement : public Statement {
public:
  MultiAssignStatement(SourceRange range, llvm::ArrayRef<const Expression *> targets,
                       const CallExpression *call)
      : Statement(Kind::MultiAssign, range), targets_(targets), call_(call) {}

  llvm::ArrayRef<const Expression *> targets() const { return targets_; }
  const CallExpression &call() const { return *call_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::MultiAssign; }

private:
  llvm::ArrayRef<const Expression *> targets_;
  const CallExpression *call_;
};

/// A call whose outputs, if any, are ignored.
class CallStatement : public Statement {
public:
  CallStatement(SourceRange range, const CallExpression *call)
      : Statement(Kind::Call, range), call_(call) {}

  const CallExpression &call() const { return *call_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::Call; }

private:
  const CallExpression *call_;
};

/// `else if` is an else branch that holds one IfStatement.
class IfStatement : public Statement {
public:
  IfStatement(SourceRange range, const Expression *predicate, StatementList thenBody,
              StatementList elseBody)
      : Statement(Kind::If, range), predicate_(predicate), thenBody_(thenBody),
        elseBody_(elseBody) {}

  const Expression &predicate() const { return *predicate_; }
  StatementList thenBody() const { return thenBody_; }
  StatementList elseBody() const { return elseBody_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::If; }

private:
  const Expression *predicate_;
  StatementList thenBody_;
  StatementList elseBody_;
};

class WhileStatement : public Statement {
public:
  WhileStatement(SourceRange range, const Expression *predicate, StatementList body)
      : Statement(Kind::While, range), predicate_(predicate), body_(body) {}

  const Expression &predicate() const { return *predicate_; }
  StatementList body() const { return body_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::While; }

private:
  const Expression *predicate_;
  StatementList body_;
};

/// The values of a loop variable: from:to or seq(from, to[, increment]). A null increment steps by
/// 1 towards `to`.
struct IterationRange {
  const Expression *from = nullptr;
  const Expression *to = nullptr;
  const Expression *increment = nullptr;
  SourceRange range;
};

/// One `name=value` of a parfor. Values are raw text; where the value is a single `$argument`, its
/// name is given too.
struct LoopOption {
  const std::string &name;
  const std::string &text;
  const std::string &argument;
  SourceRange range;
};

/// `for` and `parfor`; options are allowed on both.
class ForStatement : public Statement {
public:
  ForStatement(SourceRange range, bool isParallel, const std::string &variable,
               SourceRange variableRange, IterationRange iteration,
               llvm::ArrayRef<LoopOption> options, StatementList body)
      : Statement(Kind::For, range), isParallel_(isParallel), variable_(variable),
        variableRange_(variableRange), iteration_(iteration), options_(options), body_(body) {}

  bool isParallel() const { return isParallel_; }
  const std::string &variable() const { return variable_; }
  SourceRange variableRange() const { return variableRange_; }
  const IterationRange &iteration() const { return iteration_; }
  llvm::ArrayRef<LoopOption> options() const { return options_; }
  StatementList body() const { return body_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::For; }

private:
  bool isParallel_;
  const std::string &variable_;
  SourceRange variableRange_;
  IterationRange iteration_;
  llvm::ArrayRef<LoopOption> options_;
  StatementList body_;
};

/// `target = ifdef($argument, fallback)`.
class IfdefStatement : public Statement {
public:
  IfdefStatement(SourceRange range, const Expression *target, const ArgumentExpression *argument,
                 const Expression *fallback)
      : Statement(Kind::Ifdef, range), target_(target), argument_(argument), fallback_(fallback) {}

  const Expression &target() const { return *target_; }
  const ArgumentExpression &argument() const { return *argument_; }
  const Expression &fallback() const { return *fallback_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::Ifdef; }

private:
  const Expression *target_;
  const ArgumentExpression *argument_;
  const Expression *fallback_;
};

/// `source("path") as namespaceName`, at top level only.
class SourceStatement : public Statement {
public:
  SourceStatement(SourceRange range, const std::string &path, SourceRange pathRange,
                  const std::string &namespaceName)
      : Statement(Kind::Source, range), path_(path), pathRange_(pathRange),
        namespaceName_(namespaceName) {}

  /// As written; relative to the working directory, not to the importing file.
  const std::string &path() const { return path_; }
  SourceRange pathRange() const { return pathRange_; }
  const std::string &namespaceName() const { return namespaceName_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::Source; }

private:
  const std::string &path_;
  SourceRange pathRange_;
  const std::string &namespaceName_;
};

/// `setwd("path")`, at top level only; prefixes the paths of the source statements that follow it.
class SetWorkingDirectoryStatement : public Statement {
public:
  SetWorkingDirectoryStatement(SourceRange range, const std::string &path)
      : Statement(Kind::SetWorkingDirectory, range), path_(path) {}

  const std::string &path() const { return path_; }
  static bool classof(const Statement *s) { return s->kind() == Kind::SetWorkingDirectory; }

private:
  const std::string &path_;
};

//===-- Functions and programs --===//

enum class DeclaredDataType { Scalar, Matrix, Frame, List };
enum class DeclaredValueType { Double, Integer, Boolean, String, Unknown };

/// The spelling of a type in DML, in lower case: `matrix`, `int`.
const char *spelling(DeclaredDataType type);
const char *spelling(DeclaredValueType type);

/// A type in a signature: `int` is {Scalar, Integer}, `matrix[double]` is {Matrix, Double}.
struct DeclaredType {
  DeclaredDataType dataType = DeclaredDataType::Scalar;
  DeclaredValueType valueType = DeclaredValueType::Unknown;
  SourceRange range;
};

struct Parameter {
  DeclaredType type;
  std::string name;
  SourceRange nameRange;
  /// Null if there is no default. Its names resolve first to parameters that are already bound,
  /// then to variables of the caller.
  const Expression *defaultValue = nullptr;
};

/// `name = function(parameters) return (outputs) { body }`. Outputs have no defaults; the body is
/// never empty.
struct FunctionDefinition {
  std::string name;
  SourceRange nameRange;
  std::vector<Parameter> parameters;
  std::vector<Parameter> outputs;
  StatementList body;
  SourceRange range;
};

/// A function implemented in Java. It is kept here only to report calls to it by name.
struct ExternalFunction {
  std::string name;
  SourceRange nameRange;
};

/// One file. `statements` holds all top-level statements in order, including source and setwd;
/// `functions` are in order of definition and have distinct names.
struct Program {
  FileId file = 0;
  /// Holds the nodes.
  SyntaxArena arena;
  StatementList statements;
  std::vector<std::unique_ptr<FunctionDefinition>> functions;
  std::vector<ExternalFunction> externalFunctions;
  /// The command line arguments that the file uses: "name" for $name.
  std::set<std::string> arguments;
  /// The source statements among `statements`.
  std::vector<const SourceStatement *> sources;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_AST_H
