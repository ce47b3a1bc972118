#include "base/CellOperators.h"

#include "base/Error.h"

#include <cmath>
#include <limits>

namespace tokamak {
namespace {

struct OperatorRow {
  std::string_view mnemonic;
  std::string_view spelling;
  CellResult result;
  int flops;
  int instructions;
  SinglePrecision single;
  Accuracy accuracy;
  CellTypes types;
};
struct UnaryRow : OperatorRow {
  UnaryErrors errors;
};
struct BinaryRow : OperatorRow {
  BinaryErrors errors;
};

#define TOKAMAK_ROW(mnemonic, spelling, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY, TYPES)      \
  {#mnemonic,          spelling,                                                                   \
   CellResult::RESULT, FLOPS,                                                                      \
   INSTRUCTIONS,       SinglePrecision::SINGLE,                                                    \
   Accuracy::ACCURACY, CellTypes::TYPES}

constexpr UnaryRow unaryRows[] = {
#define TOKAMAK_UNARY(Name, mnemonic, function, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,     \
                      ERRORS, TYPES, MEANING)                                                      \
  {TOKAMAK_ROW(mnemonic, function, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY, TYPES),          \
   UnaryErrors::ERRORS},
#include "base/CellOperators.def"
};

constexpr BinaryRow binaryRows[] = {
#define TOKAMAK_BINARY(Name, mnemonic, spelling, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY,    \
                       ERRORS, TYPES, MEANING)                                                     \
  {TOKAMAK_ROW(mnemonic, spelling, RESULT, FLOPS, INSTRUCTIONS, SINGLE, ACCURACY, TYPES),          \
   BinaryErrors::ERRORS},
#include "base/CellOperators.def"
};
#undef TOKAMAK_ROW

constexpr std::string_view aggregateNames[] = {"sum",
                                               "prod",
                                               "min",
                                               "max",
                                               "mean",
                                               "var",
                                               "sd",
                                               "index_max",
                                               "index_min",
                                               "first_index_max",
                                               "first_index_min"};
constexpr std::string_view directionNames[] = {"full", "row", "column"};

const UnaryRow &row(UnaryOperator op) { return unaryRows[static_cast<int>(op)]; }
const BinaryRow &row(BinaryOperator op) { return binaryRows[static_cast<int>(op)]; }

template <typename Enum, typename Row, size_t N>
std::optional<Enum> find(const Row (&rows)[N], std::string_view OperatorRow::*key,
                         std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (rows[i].*key == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

template <typename Enum, size_t N>
std::optional<Enum> findName(const std::string_view (&names)[N], std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

} // namespace

std::string_view mnemonic(UnaryOperator op) { return row(op).mnemonic; }
std::string_view mnemonic(BinaryOperator op) { return row(op).mnemonic; }
std::string_view spelling(UnaryOperator op) { return row(op).spelling; }
std::string_view spelling(BinaryOperator op) { return row(op).spelling; }
CellResult resultOf(UnaryOperator op) { return row(op).result; }
CellResult resultOf(BinaryOperator op) { return row(op).result; }
int flopsOf(UnaryOperator op) { return row(op).flops; }
int flopsOf(BinaryOperator op) { return row(op).flops; }
int instructionsOf(UnaryOperator op) { return row(op).instructions; }
int instructionsOf(BinaryOperator op) { return row(op).instructions; }
SinglePrecision singlePrecisionOf(UnaryOperator op) { return row(op).single; }
SinglePrecision singlePrecisionOf(BinaryOperator op) { return row(op).single; }
Accuracy accuracyOf(UnaryOperator op) { return row(op).accuracy; }
Accuracy accuracyOf(BinaryOperator op) { return row(op).accuracy; }
UnaryErrors errorsOf(UnaryOperator op) { return row(op).errors; }
BinaryErrors errorsOf(BinaryOperator op) { return row(op).errors; }

static bool takes(CellTypes types, ElementType type) {
  return isFloat(type) || types == CellTypes::Any ||
         (types == CellTypes::Numbers && type != ElementType::Bool);
}
bool takes(UnaryOperator op, ElementType type) { return takes(row(op).types, type); }
bool takes(BinaryOperator op, ElementType type) { return takes(row(op).types, type); }

bool isNeverNegative(UnaryOperator op) {
  return op == UnaryOperator::Abs || op == UnaryOperator::Sqrt || op == UnaryOperator::Exp ||
         op == UnaryOperator::Sigmoid || op == UnaryOperator::Cosh;
}

std::optional<UnaryOperator> findUnaryOperator(std::string_view name) {
  return find<UnaryOperator>(unaryRows, &OperatorRow::mnemonic, name);
}
std::optional<BinaryOperator> findBinaryOperator(std::string_view name) {
  return find<BinaryOperator>(binaryRows, &OperatorRow::mnemonic, name);
}
std::optional<BinaryOperator> findBinaryBySpelling(std::string_view name) {
  constexpr std::pair<std::string_view, BinaryOperator> others[] = {
      {"pow", BinaryOperator::Pow}, {"&&", BinaryOperator::And}, {"||", BinaryOperator::Or}};
  for (auto [other, op] : others)
    if (name == other)
      return op;
  return find<BinaryOperator>(binaryRows, &OperatorRow::spelling, name);
}

std::string_view mnemonic(AggregateKind kind) { return aggregateNames[static_cast<int>(kind)]; }
std::string_view mnemonic(AggregateDirection direction) {
  return directionNames[static_cast<int>(direction)];
}
bool isComparison(BinaryOperator op) {
  return op >= BinaryOperator::Eq && op <= BinaryOperator::Ge;
}

bool isIndex(AggregateKind kind) { return kind >= AggregateKind::IndexMax; }
bool isOfLargest(AggregateKind kind) {
  return kind == AggregateKind::Max || kind == AggregateKind::IndexMax ||
         kind == AggregateKind::FirstIndexMax;
}
BinaryOperator replacingComparison(AggregateKind kind) {
  switch (kind) {
  case AggregateKind::IndexMax:
    return BinaryOperator::Ge;
  case AggregateKind::IndexMin:
    return BinaryOperator::Le;
  case AggregateKind::FirstIndexMax:
    return BinaryOperator::Gt;
  case AggregateKind::FirstIndexMin:
    return BinaryOperator::Lt;
  default:
    internalError("an aggregation that is no index");
  }
}
std::optional<AggregateKind> findAggregateKind(std::string_view name) {
  return findName<AggregateKind>(aggregateNames, name);
}
std::optional<AggregateDirection> findAggregateDirection(std::string_view name) {
  return findName<AggregateDirection>(directionNames, name);
}

} // namespace tokamak
