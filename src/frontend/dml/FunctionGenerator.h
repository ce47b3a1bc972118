// Generates the body of one function: it walks the statements in the order of execution with the
// value of every variable at hand, so types are those of the values, and what is wrong is reported
// on the way.
//
// A null value means that an error was reported already: a function that gets one as an operand
// reports nothing and returns a null value.
//
// How variables pass through control flow: branches and bodies of loops are generated into regions
// of their own with a copy of the scope; only then is known which variables an operation has to
// carry and with which types. The body of a loop is generated again when the types at its end widen
// those at its start.
#ifndef TOKAMAK_FRONTEND_DML_FUNCTIONGENERATOR_H
#define TOKAMAK_FRONTEND_DML_FUNCTIONGENERATOR_H

#include "frontend/dml/CallBinding.h"
#include "frontend/dml/ModuleGenerator.h"
#include "frontend/dml/VariableFlow.h"
#include "ir/tok/TokDialect.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::frontend {

struct Variable {
  mlir::Value value;
  SourceRange assignedAt;
  /// Assigned by a later statement of a loop that is being generated, of a type that is not known
  /// yet.
  bool isPending = false;
  /// Assigned on some of the paths that lead here only.
  bool mayBeUnassigned = false;
};
using Scope = std::map<std::string, Variable>;

/// A call of a builtin with its arguments evaluated and converted to the parameters' types.
struct BuiltinCall {
  const CallExpression &expression;
  const Builtin &builtin;
  mlir::Location location;
  /// One for each parameter, null where an optional one is absent; all arguments of a variadic
  /// builtin.
  llvm::SmallVector<mlir::Value, 8> operands;
  llvm::SmallVector<const CallArgument *, 8> arguments;
};

class FunctionGenerator {
public:
  FunctionGenerator(ModuleGenerator &module, mlir::Block &block, const StatementList &body,
                    const NameSet &outputs);

  void define(const std::string &name, mlir::Value value, SourceRange place);
  void generate(const StatementList &statements);
  /// The value of an output at the end of the function.
  mlir::Value output(const Parameter &output, mlir::Type declared);
  mlir::Value castTo(mlir::Value value, mlir::Type type, SourceRange place);
  void finish(mlir::ValueRange results, mlir::Location location);

private:
  // Statements: GenerateStatements.cpp.
  void generate(const Statement &statement);
  void generateAssign(const AssignStatement &statement);
  void generateMultiAssign(const MultiAssignStatement &statement);
  void generateIfdef(const IfdefStatement &statement);
  void assign(const Expression &target, mlir::Value value);
  // Remembers in the location of the value which variable it was first assigned to, for
  // explanations.
  void nameValue(mlir::Value value, llvm::StringRef variable);
  void insert(const IndexExpression &target, mlir::Value value, bool isAccumulation);

  // Control flow: GenerateControlFlow.cpp.
  struct Carried {
    std::string name;
    mlir::Type type; // null: not known yet
    bool isConflicting = false;
  };
  struct LoopRegions {
    mlir::Region condition;
    mlir::Region body;
    bool isComplete = true; // false: a condition could not be generated
  };
  using EmitRegions = llvm::function_ref<void(LoopRegions &, llvm::ArrayRef<Carried>)>;
  using CreateLoop =
      llvm::function_ref<mlir::Operation *(LoopRegions &, mlir::TypeRange, mlir::ValueRange)>;

  void generateIf(const IfStatement &statement);
  void generateWhile(const WhileStatement &statement);
  void generateFor(const ForStatement &statement);
  void checkIndependence(const ForStatement &statement);
  void generateLoop(const Statement &statement, EmitRegions emit, CreateLoop create);
  llvm::SmallVector<Carried> carriedBy(const Statement &loop);
  mlir::Block &enterRegion(mlir::Region &region, llvm::ArrayRef<Carried> carried, bool hasCounter);
  bool widenTypes(const Statement &loop, llvm::MutableArrayRef<Carried> carried,
                  const Scope &entry);
  void resolvePendingReads(const Scope &entry,
                           std::vector<std::pair<std::string, SourceRange>> outer);
  mlir::Value predicate(const Expression &expression, llvm::StringRef statement);
  mlir::Value valueOrUndefined(const Scope &scope, const std::string &name, mlir::Type type,
                               mlir::Location location);
  mlir::Type join(const std::string &name, const Variable &before, const Variable &here);

  // Expressions: GenerateExpressions.cpp.
  mlir::Value generate(const Expression &expression);
  mlir::Value read(const std::string &name, SourceRange range);
  mlir::Value argument(const ArgumentExpression &expression);
  mlir::Value unary(const UnaryExpression &expression);
  mlir::Value binary(const BinaryExpression &expression);
  mlir::Value binary(tokamak::BinaryOperator op, mlir::Value lhs, mlir::Value rhs,
                     SourceRange place);
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs, SourceRange place);
  mlir::Value slice(const IndexExpression &expression);
  struct IndexRanges {
    llvm::SmallVector<mlir::Value, 4> bounds; // of rows, then columns; empty after errors
  };
  IndexRanges matrixIndex(const IndexExpression &expression, mlir::Value matrix);
  IndexRanges listIndex(const IndexExpression &expression);
  void reportUnknownVariable(const std::string &name, SourceRange range);

  // Calls: GenerateCalls.cpp.
  mlir::Value callForValue(const CallExpression &call);
  /// Nothing after errors.
  std::optional<llvm::SmallVector<mlir::Value>> call(const CallExpression &call);
  std::optional<llvm::SmallVector<mlir::Value>> callFunction(const CallExpression &call,
                                                             const Function &function);
  mlir::Value defaultValue(const Parameter &parameter, const Scope &bound);
  mlir::Value convertArgument(mlir::Value value, const Parameter &parameter,
                              const Function &function, SourceRange place);
  std::optional<BuiltinCall> evaluate(const CallExpression &call, const Builtin &builtin);
  mlir::Value convert(mlir::Value value, ParameterType type, const std::string &purpose,
                      SourceRange place);
  mlir::Value literal(const BuiltinParameter &parameter, mlir::Location location);

  // Builtins: GenerateBuiltins.cpp. Statements give null, too.
  mlir::Value callBuiltin(const CallExpression &call, const Builtin &builtin);
  mlir::Value emitBuiltin(BuiltinCall &call);
  mlir::Value emitOperation(BuiltinCall &call);
  mlir::Value emitSpecial(BuiltinCall &call);
  mlir::Value emitExists(const CallExpression &call);
  /// Whether the format at this position, if it is a literal, is one that exists; reports
  /// otherwise.
  bool checkFormat(BuiltinCall &call, size_t position);
  mlir::Value emitRead(BuiltinCall &call);
  mlir::Value emitWrite(BuiltinCall &call);
  mlir::Value emitPrint(BuiltinCall &call);
  mlir::Value emitMatrix(BuiltinCall &call);
  mlir::Value emitSeq(BuiltinCall &call);
  mlir::Value emitSample(BuiltinCall &call);
  mlir::Value emitList(BuiltinCall &call);
  mlir::Value emitConversion(BuiltinCall &call);
  mlir::Value emitBind(BuiltinCall &call);
  mlir::Value emitTable(BuiltinCall &call);
  mlir::Value emitOuter(BuiltinCall &call);
  mlir::Value emitExtremum(BuiltinCall &call);
  mlir::Value emitLog(BuiltinCall &call);
  mlir::Value emitWeighted(BuiltinCall &call);
  mlir::Value emitRemove(BuiltinCall &call);
  mlir::Value native(BuiltinCall &call, llvm::StringRef name, mlir::Type type,
                     mlir::ValueRange operands);
  // GenerateFrameBuiltins.cpp.
  mlir::Value schemaText(const ListExpression &list);
  mlir::Value emitAsFrame(BuiltinCall &call);
  mlir::Value emitReplace(BuiltinCall &call);
  mlir::Value emitRemoveEmpty(BuiltinCall &call);
  mlir::Value emitBindFrames(BuiltinCall &call);
  // GenerateStatisticBuiltins.cpp.
  mlir::Value emitMean(BuiltinCall &call);
  mlir::Value emitDistribution(BuiltinCall &call);
  mlir::Value emitDecomposition(BuiltinCall &call);
  mlir::Value emitCountDistinct(BuiltinCall &call);
  mlir::Value emitComparison(BuiltinCall &call);

  // Small things.
  mlir::Value constant(int64_t value, mlir::Location location);
  mlir::Value none(mlir::Location location);
  mlir::Type resultType(const BuiltinCall &call);
  mlir::Type matrixType() { return tok::matrixType(module_.context()); }
  mlir::Type frameType() { return tok::FrameType::get(module_.context()); }
  mlir::Type listType() { return tok::ListType::get(module_.context()); }
  mlir::Type scalarType() { return tok::ScalarType::get(module_.context()); }
  mlir::Location location(SourceRange range) { return module_.location(range); }

  ModuleGenerator &module_;
  mlir::OpBuilder builder_;
  VariableFlow flow_;
  Scope scope_;
  std::vector<std::pair<std::string, SourceRange>> pendingReads_;
  // What loops were found to carry: where they start when an enclosing loop is generated again.
  llvm::DenseMap<const Statement *, std::map<std::string, mlir::Type>> loopTypes_;
  // "the condition of while", while one is being generated: functions can't be called there.
  llvm::StringRef callFreeZone_;
};

/// The literal a value is, if it is one.
std::optional<llvm::StringRef> constantText(mlir::Value value);
std::optional<bool> constantBoolean(mlir::Value value);
std::optional<double> constantNumber(mlir::Value value);
std::optional<int64_t> constantInteger(mlir::Value value);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_FUNCTIONGENERATOR_H
