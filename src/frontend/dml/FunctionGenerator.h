// Generates the body of one function: walks the statements in order of execution while keeping the
// current value of every variable, so that the types of variables are those of their values and
// errors are reported on the way.
//
//   FunctionGenerator generator(module, block, statements, outputs);
//   generator.define("X", argument, place);           // a parameter
//   generator.generate(statements);
//   generator.finish({generator.output(result, type)}, location);
//
// A null value means that an error was already reported: a generator method that gets a null
// operand reports nothing and returns a null value.
//
// Variables and control flow: branches and loop bodies are generated into separate regions, each
// with a copy of the scope; only afterwards is it known which variables the operation has to carry,
// and with which types. The body of a loop is generated again (to a fixed point) when the types at
// its end widen those at its start.
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

inline SourceRange placeOf(const CallArgument &argument) { return argument.value->range(); }

struct Variable {
  mlir::Value value;
  SourceRange assignedAt;
  /// Assigned only later in a loop that is being generated, with a type that is not known yet.
  bool isPending = false;
  /// Assigned only on some of the paths that lead here.
  bool mayBeUnassigned = false;
  /// Read without being assigned anywhere, which was reported.
  bool isUnknown = false;
};
using Scope = std::map<std::string, Variable>;

/// A call of a builtin with its arguments evaluated and converted to the parameters' types.
struct BuiltinCall {
  const CallExpression &expression;
  const Builtin &builtin;
  mlir::Location location;
  /// One operand per parameter, null for an absent optional parameter; for a variadic builtin, all
  /// its arguments.
  llvm::SmallVector<mlir::Value, 8> operands;
  llvm::SmallVector<const CallArgument *, 8> arguments;
};

/// Goes with refusals of tensors.
inline constexpr llvm::StringLiteral noteOnTensors =
    "matrix(T, rows=..., cols=...) makes a matrix of a tensor's cells";

class FunctionGenerator {
public:
  FunctionGenerator(ModuleGenerator &module, mlir::Block &block, StatementList body,
                    const NameSet &outputs);

  void define(const std::string &name, mlir::Value value, SourceRange place);
  void generate(StatementList statements);
  /// The value of an output at the end of the function, converted to its declared type.
  mlir::Value output(const Parameter &output, mlir::Type declared);
  mlir::Value castTo(mlir::Value value, mlir::Type type, SourceRange place);
  /// Reports errors in the defaults of the function, as far as they don't depend on the caller. The parameters become
  /// arguments of the block.
  void checkDefaults(const Function &function, mlir::Block &block);
  void finish(mlir::ValueRange results, mlir::Location location);

private:
  // Statements: GenerateStatements.cpp.
  void generate(const Statement &statement);
  void generateAssign(const AssignStatement &statement);
  void generateMultiAssign(const MultiAssignStatement &statement);
  void generateIfdef(const IfdefStatement &statement);
  mlir::Value convertOutput(mlir::Value value, const Parameter &output, mlir::Type declared);
  mlir::Value wholeOutput(mlir::Value value, const Parameter &output);
  void assign(const Expression &target, mlir::Value value);
  // Records in the location of the value the variable that it was first assigned to, for
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
  bool checkIndependence(const ForStatement &statement);
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
  mlir::Value list(const ListExpression &expression);
  struct IndexRanges {
    llvm::SmallVector<mlir::Value, 4> bounds; // of rows, then columns; empty after errors
  };
  IndexRanges matrixIndex(const IndexExpression &expression, mlir::Value matrix);
  IndexRanges listIndex(const IndexExpression &expression);
  void reportUnknownVariable(const std::string &name, SourceRange range);

  // Calls: GenerateCalls.cpp.
  mlir::Value callForValue(const CallExpression &call);
  /// Nothing after errors.
  std::optional<llvm::SmallVector<mlir::Value>> call(const CallExpression &call,
                                                     bool isStatement = false);
  std::optional<llvm::SmallVector<mlir::Value>> callFunction(const CallExpression &call,
                                                             const Function &function);
  /// Where the scope has what is bound, too.
  mlir::Value defaultValue(const Parameter &parameter, const FunctionDefinition &definition,
                           const Scope &bound);
  // Of models: GenerateModelCalls.cpp.
  std::optional<llvm::SmallVector<mlir::Value>> callModel(const CallExpression &call);
  std::optional<llvm::SmallVector<mlir::Value>> modelOperands(const CallToBind &call,
                                                              const CalledModel &model);
  mlir::Value modelOperand(const Expression &argument, const onnx::Type &type, mlir::Type element,
                           const std::string &name, mlir::Location place);
  mlir::Value asMatrix(mlir::Value value, SourceRange place);
  mlir::Value convertArgument(mlir::Value value, const Parameter &parameter,
                              const Function &function, SourceRange place);
  std::optional<BuiltinCall> evaluate(const CallExpression &call, const Builtin &builtin);
  mlir::Value convert(mlir::Value value, ParameterType type, const std::string &purpose,
                      SourceRange place);
  mlir::Value literal(const BuiltinParameter &parameter, mlir::Location location);

  // Builtins: GenerateBuiltins.cpp. Builtins without a result (such as print) return null, too.
  mlir::Value callBuiltin(const CallExpression &call, const Builtin &builtin);
  mlir::Value emitBuiltin(BuiltinCall &call);
  mlir::Value emitOperation(BuiltinCall &call);
  mlir::Value emitSpecial(BuiltinCall &call);
  mlir::Value emitExists(const CallExpression &call);
  /// Whether the format at this position exists, as far as it is a literal; otherwise reports an
  /// error.
  bool checkFormat(BuiltinCall &call, size_t position);
  mlir::Value emitRead(BuiltinCall &call);
  mlir::Value emitWrite(BuiltinCall &call);
  mlir::Value emitPrint(BuiltinCall &call);
  /// Of values for which the format of `print` has no place.
  void warnOfUnusedValues(const BuiltinCall &call);
  /// Whether rows are given one after the other; nothing after an error: it must be a literal.
  std::optional<bool> literalByRow(BuiltinCall &call, size_t position);
  /// A matrix with the first operand in every cell; null if that is no number.
  mlir::Value filled(BuiltinCall &call, mlir::Value rows, mlir::Value columns);
  mlir::Value emitMatrix(BuiltinCall &call);
  mlir::Value emitSeq(BuiltinCall &call);
  mlir::Value emitTensor(BuiltinCall &call);
  /// False after an error: the operand is a tensor.
  bool refuseTensor(BuiltinCall &call, size_t position);
  mlir::Value emitRand(BuiltinCall &call);
  llvm::SmallVector<mlir::Value> dimensions(mlir::Value dims, SourceRange place);
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
  mlir::Value emitEval(BuiltinCall &call);
  mlir::Value emitIdentity(BuiltinCall &call);
  mlir::Value native(BuiltinCall &call, llvm::StringRef name, mlir::Type type,
                     mlir::ValueRange operands);
  mlir::Value emitAutoDiff(BuiltinCall &call); // GenerateAutoDiff.cpp
  // GenerateFrameBuiltins.cpp.
  /// The names of a list of types as one text; any other value as it is.
  mlir::Value schema(const Expression &expression);
  mlir::Value emitAsFrame(BuiltinCall &call);
  mlir::Value emitReplace(BuiltinCall &call);
  mlir::Value emitRemoveEmpty(BuiltinCall &call);
  mlir::Value emitBindFrames(BuiltinCall &call);
  mlir::Value emitTransform(BuiltinCall &call);
  // GenerateNeuralBuiltins.cpp.
  llvm::SmallVector<mlir::Value> shapeOf(BuiltinCall &call, llvm::StringRef name, size_t count);
  mlir::Value emitWindows(BuiltinCall &call);
  mlir::Value emitEinsum(BuiltinCall &call);
  /// Two sizes that must be equal. The program fails where they aren't; its message has both of them between the texts.
  struct EqualSizes {
    mlir::Value own, wanted;
    std::string before, between, behind;
  };
  void requireEqual(const EqualSizes &sizes, SourceRange place);
  // GenerateStatisticBuiltins.cpp.
  mlir::Value emitMean(BuiltinCall &call);
  mlir::Value emitDistribution(BuiltinCall &call);
  mlir::Value emitDecomposition(BuiltinCall &call);
  mlir::Value emitCountDistinct(BuiltinCall &call);
  mlir::Value emitFourier(BuiltinCall &call);
  mlir::Value emitComparison(BuiltinCall &call);

  // Helpers.
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
  // The types of the variables that each loop carries, found so far: the starting point when an
  // enclosing loop is generated again.
  llvm::DenseMap<const Statement *, std::map<std::string, mlir::Type>> loopTypes_;
  llvm::SmallVector<const Parameter *> defaults_; // that are being generated
  // "while" or "for" while the head of such a loop is being generated, where functions can't be
  // called; otherwise empty.
  llvm::StringRef callFreeZone_;
};

/// What kind of value it is, in messages: "a matrix".
inline std::string describe(mlir::Value value) { return tok::describeType(value.getType()).str(); }

/// The literal that defines the value, if a literal does.
std::optional<llvm::StringRef> constantText(mlir::Value value);
std::optional<bool> constantBoolean(mlir::Value value);
std::optional<double> constantNumber(mlir::Value value);
std::optional<int64_t> constantInteger(mlir::Value value);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_FUNCTIONGENERATOR_H
