// The names and attributes of the elementwise operators and of the aggregations, and the value of
// each operator on one cell. The table of operators is CellOperators.def.
//
//   evaluate(BinaryOperator::Mod, -7.0, 2.0) == -1.0        // truncated, not floored
//   spelling(UnaryOperator::IsNan) == "is.nan"
#ifndef TOKAMAK_BASE_CELLOPERATORS_H
#define TOKAMAK_BASE_CELLOPERATORS_H

#include "base/ElementType.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace tokamak {

enum class UnaryOperator : uint8_t {
#define TOKAMAK_UNARY(Name, mnemonic, function, ...) Name,
#include "base/CellOperators.def"
};

enum class BinaryOperator : uint8_t {
#define TOKAMAK_BINARY(Name, mnemonic, spelling, ...) Name,
#include "base/CellOperators.def"
};

// The type of the result when all operands are scalars (see CellOperators.def).
enum class CellResult : uint8_t { Double, Number, Boolean };
// How f32 cells are computed, whether the vector code rounds differently from evaluate(), and how
// errors of the operands propagate (see CellOperators.def).
enum class SinglePrecision : uint8_t { Native, Widened };
enum class Accuracy : uint8_t { Exact, Approximate };
enum class UnaryErrors : uint8_t { Monotone, TurnsAtZero, Wave, Tangent, Truth, Finiteness };
enum class BinaryErrors : uint8_t { Monotone, Equality, Logic, Quotient, Remainder, Power, Bits };
// The element types of arrays that an operator takes.
enum class CellTypes : uint8_t { Floats, Numbers, Any };

// Aggregations; the directions reduce over all cells, over the columns of each row, or over the
// rows of each column.
enum class AggregateKind : uint8_t {
  Sum,
  Prod,
  Min,
  Max,
  Mean,
  Var,
  Sd,
  IndexMax, // the last one of several largest cells
  IndexMin,
  FirstIndexMax,
  FirstIndexMin
};
enum class AggregateDirection : uint8_t { Full, Row, Column };

std::string_view mnemonic(UnaryOperator op);
std::string_view mnemonic(BinaryOperator op);
std::string_view spelling(UnaryOperator op);
std::string_view spelling(BinaryOperator op);
std::optional<UnaryOperator> findUnaryOperator(std::string_view mnemonic);
std::optional<BinaryOperator> findBinaryOperator(std::string_view mnemonic);
// By the spelling in DML, "+", "%%", "xor", or another one that SystemDS takes where an operator is given as a text: "pow",
// "&&", "||".
std::optional<BinaryOperator> findBinaryBySpelling(std::string_view spelling);
CellResult resultOf(UnaryOperator op);
CellResult resultOf(BinaryOperator op);
int flopsOf(UnaryOperator op);
int flopsOf(BinaryOperator op);
int instructionsOf(UnaryOperator op);
int instructionsOf(BinaryOperator op);
SinglePrecision singlePrecisionOf(UnaryOperator op);
SinglePrecision singlePrecisionOf(BinaryOperator op);
Accuracy accuracyOf(UnaryOperator op);
Accuracy accuracyOf(BinaryOperator op);
UnaryErrors errorsOf(UnaryOperator op);
BinaryErrors errorsOf(BinaryOperator op);
bool takes(UnaryOperator op, ElementType type);
bool takes(BinaryOperator op, ElementType type);
// Whether no result is less than 0, -0 and NaN aside.
bool isNeverNegative(UnaryOperator op);
// Whether it compares its operands by order or equality.
bool isComparison(BinaryOperator op);

std::string_view mnemonic(AggregateKind kind);           // "sum", "index_max"
std::string_view mnemonic(AggregateDirection direction); // "full", "row", "column"
// Whether the result is the place of an extreme.
bool isIndex(AggregateKind kind);
// Whether the result is the largest cell, or its place.
bool isOfLargest(AggregateKind kind);
// Of an index: how a cell compares with the best one before it if it takes its place.
BinaryOperator replacingComparison(AggregateKind kind);
std::optional<AggregateKind> findAggregateKind(std::string_view mnemonic);
std::optional<AggregateDirection> findAggregateDirection(std::string_view mnemonic);

// The result for one cell. Comparisons and logical operators return 1.0 or 0.0; any non-zero
// operand (NaN too) counts as true.
double evaluate(UnaryOperator op, double x);
double evaluate(BinaryOperator op, double a, double b);

// The same on cells of an array of integers or of i1, given as 64 bits (those of ui64 are read as an
// int64_t), for operators that take the type. Every operator has a result for all operands: sums,
// differences and products keep their lowest bits; a quotient is truncated (`/` like `%/%`), and is
// 0, as a remainder is, if the divisor is 0; a power with a negative exponent is truncated (0 for
// the base 0).
int64_t evaluate(UnaryOperator op, ElementType type, int64_t x);
int64_t evaluate(BinaryOperator op, ElementType type, int64_t a, int64_t b);

// The exact result for scalars that are integers, for operators whose result is Number. Returns nullopt if
// the result doesn't fit int64, and for `%/%` by zero (both are the user's errors).
std::optional<int64_t> evaluateInteger(UnaryOperator op, int64_t x);
std::optional<int64_t> evaluateInteger(BinaryOperator op, int64_t a, int64_t b);

// How DML converts a double to an integer: sign(v)*floor(|v| + 2^-53),
// saturated to int64. NaN gives 0.
int64_t truncateToInteger(double value);

} // namespace tokamak
#endif
