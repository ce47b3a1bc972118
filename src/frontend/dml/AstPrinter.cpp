#include "frontend/dml/AstPrinter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <charconv>
#include <cmath>

namespace tokamak::frontend {

namespace {

/// Prints the shortest text that parses to the same value and is recognisable as a double.
void printDouble(double value, llvm::raw_ostream &os) {
  if (std::isnan(value)) {
    os << "NaN";
    return;
  }
  if (std::isinf(value)) {
    os << (value < 0 ? "-Inf" : "Inf");
    return;
  }
  char buffer[32];
  auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  llvm::StringRef text(buffer, result.ptr - buffer);
  os << text;
  if (text.find_first_of(".e") == llvm::StringRef::npos)
    os << ".0";
}

void printString(llvm::StringRef value, llvm::raw_ostream &os) {
  os << '"';
  llvm::printEscapedString(value, os);
  os << '"';
}

void printDimension(const IndexDimension &dimension, llvm::raw_ostream &os) {
  if (dimension.isAll()) {
    os << "all";
  } else if (dimension.isSingle()) {
    print(*dimension.lower, os);
  } else {
    os << "(range ";
    print(*dimension.lower, os);
    os << ' ';
    print(*dimension.upper, os);
    os << ')';
  }
}

void printCall(const CallExpression &call, llvm::raw_ostream &os) {
  os << "(call " << call.callee();
  for (const CallArgument &argument : call.arguments()) {
    os << ' ';
    if (argument.isNamed())
      os << argument.name << '=';
    print(*argument.value, os);
  }
  os << ')';
}

/// Prints the statements, each preceded by a blank.
void printBody(StatementList body, llvm::raw_ostream &os) {
  for (const Statement *statement : body) {
    os << ' ';
    print(*statement, os);
  }
}

void printIf(const IfStatement &statement, llvm::raw_ostream &os) {
  os << "(if ";
  print(statement.predicate(), os);
  os << " (then";
  printBody(statement.thenBody(), os);
  os << ')';
  if (!statement.elseBody().empty()) {
    os << " (else";
    printBody(statement.elseBody(), os);
    os << ')';
  }
  os << ')';
}

void printFor(const ForStatement &statement, llvm::raw_ostream &os) {
  const IterationRange &iteration = statement.iteration();
  os << (statement.isParallel() ? "(parfor " : "(for ") << statement.variable() << " (range ";
  print(*iteration.from, os);
  os << ' ';
  print(*iteration.to, os);
  if (iteration.increment) {
    os << ' ';
    print(*iteration.increment, os);
  }
  os << ')';
  for (const LoopOption &option : statement.options())
    os << ' ' << option.name << '=' << option.text;
  printBody(statement.body(), os);
  os << ')';
}

void printMultiAssign(const MultiAssignStatement &statement, llvm::raw_ostream &os) {
  os << "(multi-assign (";
  llvm::interleave(
      statement.targets(), os, [&](const Expression *target) { print(*target, os); }, " ");
  os << ") ";
  print(statement.call(), os);
  os << ')';
}

void printAssign(const AssignStatement &statement, llvm::raw_ostream &os) {
  os << (statement.op() == AssignOperator::Assign ? "(assign " : "(accumulate ");
  print(statement.target(), os);
  os << ' ';
  print(statement.value(), os);
  os << ')';
}

void printParameters(const std::vector<Parameter> &parameters, llvm::raw_ostream &os) {
  os << '(';
  llvm::interleave(
      parameters, os,
      [&](const Parameter &parameter) {
        os << spelling(parameter.type.dataType) << '[' << spelling(parameter.type.valueType) << "] "
           << parameter.name;
        if (parameter.defaultValue) {
          os << '=';
          print(*parameter.defaultValue, os);
        }
      },
      ", ");
  os << ')';
}

} // namespace

void print(const Expression &expression, llvm::raw_ostream &os) {
  llvm::TypeSwitch<const Expression *>(&expression)
      .Case([&](const IntegerLiteral *e) { os << e->value(); })
      .Case([&](const DoubleLiteral *e) { printDouble(e->value(), os); })
      .Case([&](const StringLiteral *e) { printString(e->value(), os); })
      .Case([&](const BooleanLiteral *e) { os << (e->value() ? "TRUE" : "FALSE"); })
      .Case([&](const ArgumentExpression *e) { os << '$' << e->name(); })
      .Case([&](const NameExpression *e) { os << e->name(); })
      .Case([&](const CallExpression *e) { printCall(*e, os); })
      .Case([&](const IndexExpression *e) {
        os << "(index " << e->name();
        for (const IndexDimension &dimension : e->dimensions()) {
          os << ' ';
          printDimension(dimension, os);
        }
        os << ')';
      })
      .Case([&](const UnaryExpression *e) {
        os << '(' << spelling(e->op()) << ' ';
        print(e->operand(), os);
        os << ')';
      })
      .Case([&](const BinaryExpression *e) {
        os << '(' << spelling(e->op()) << ' ';
        print(e->left(), os);
        os << ' ';
        print(e->right(), os);
        os << ')';
      })
      .Case([&](const ListExpression *e) {
        os << "(list";
        for (const Expression *element : e->elements()) {
          os << ' ';
          print(*element, os);
        }
        os << ')';
      });
}

void print(const Statement &statement, llvm::raw_ostream &os) {
  llvm::TypeSwitch<const Statement *>(&statement)
      .Case([&](const AssignStatement *s) { printAssign(*s, os); })
      .Case([&](const MultiAssignStatement *s) { printMultiAssign(*s, os); })
      .Case([&](const CallStatement *s) { print(s->call(), os); })
      .Case([&](const IfStatement *s) { printIf(*s, os); })
      .Case([&](const WhileStatement *s) {
        os << "(while ";
        print(s->predicate(), os);
        printBody(s->body(), os);
        os << ')';
      })
      .Case([&](const ForStatement *s) { printFor(*s, os); })
      .Case([&](const IfdefStatement *s) {
        os << "(ifdef ";
        print(s->target(), os);
        os << ' ';
        print(s->argument(), os);
        os << ' ';
        print(s->fallback(), os);
        os << ')';
      })
      .Case([&](const SourceStatement *s) {
        os << "(source ";
        printString(s->path(), os);
        os << ' ' << s->namespaceName() << ')';
      })
      .Case([&](const SetWorkingDirectoryStatement *s) {
        os << "(setwd ";
        printString(s->path(), os);
        os << ')';
      });
}

void print(const FunctionDefinition &function, llvm::raw_ostream &os) {
  os << "(function " << function.name << ' ';
  printParameters(function.parameters, os);
  os << ' ';
  printParameters(function.outputs, os);
  printBody(function.body, os);
  os << ')';
}

void print(const Program &program, llvm::raw_ostream &os) {
  for (const Statement *statement : program.statements) {
    print(*statement, os);
    os << '\n';
  }
  for (const auto &function : program.functions) {
    print(*function, os);
    os << '\n';
  }
}

std::string toString(const Program &program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program, os);
  return text;
}

} // namespace tokamak::frontend
