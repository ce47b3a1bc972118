#include "frontend/dml/Ast.h"

#include "llvm/Support/ErrorHandling.h"

namespace tokamak::frontend {

const char *spelling(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::Power:
    return "^";
  case BinaryOperator::MatrixMultiply:
    return "%*%";
  case BinaryOperator::Modulus:
    return "%%";
  case BinaryOperator::IntegerDivide:
    return "%/%";
  case BinaryOperator::Multiply:
    return "*";
  case BinaryOperator::Divide:
    return "/";
  case BinaryOperator::Add:
    return "+";
  case BinaryOperator::Subtract:
    return "-";
  case BinaryOperator::Less:
    return "<";
  case BinaryOperator::LessEqual:
    return "<=";
  case BinaryOperator::Greater:
    return ">";
  case BinaryOperator::GreaterEqual:
    return ">=";
  case BinaryOperator::Equal:
    return "==";
  case BinaryOperator::NotEqual:
    return "!=";
  case BinaryOperator::And:
    return "&";
  case BinaryOperator::Or:
    return "|";
  }
  llvm_unreachable("unknown operator");
}

const char *spelling(UnaryOperator op) {
  switch (op) {
  case UnaryOperator::Minus:
    return "-";
  case UnaryOperator::Plus:
    return "+";
  case UnaryOperator::Not:
    return "!";
  }
  llvm_unreachable("unknown operator");
}

const char *spelling(DeclaredDataType type) {
  switch (type) {
  case DeclaredDataType::Scalar:
    return "scalar";
  case DeclaredDataType::Matrix:
    return "matrix";
  case DeclaredDataType::Frame:
    return "frame";
  case DeclaredDataType::List:
    return "list";
  }
  llvm_unreachable("unknown type");
}

const char *spelling(DeclaredValueType type) {
  switch (type) {
  case DeclaredValueType::Double:
    return "double";
  case DeclaredValueType::Integer:
    return "int";
  case DeclaredValueType::Boolean:
    return "boolean";
  case DeclaredValueType::String:
    return "string";
  case DeclaredValueType::Unknown:
    return "unknown";
  }
  llvm_unreachable("unknown type");
}

} // namespace tokamak::frontend
