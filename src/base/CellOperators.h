// What the elementwise operators are called and what they mean on one cell; the table is
// CellOperators.def.
//
//   evaluate(BinaryOperator::Mod, -7.0, 2.0) == -1.0        // truncated, not floored
//   spelling(UnaryOperator::IsNan) == "is.nan"
#ifndef TOKAMAK_BASE_CELLOPERATORS_H
#define TOKAMAK_BASE_CELLOPERATORS_H

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
// How cells of f32 are computed, what the vector code rounds, and how errors of operands spread
// (see CellOperators.def).
enum class SinglePrecision : uint8_t { Native, Widened };
enum class Accuracy : uint8_t { Exact, Approximate };
enum class UnaryErrors : uint8_t { Monotone, TurnsAtZero, Wave, Tangent, Truth, Finiteness };
enum class BinaryErrors : uint8_t { Monotone, Equality, Logic, Quotient, Remainder, Power, Bits };

// Aggregations; the directions reduce over all cells, over the columns of each row, or over the
// rows of each column.
enum class AggregateKind : uint8_t { Sum, Prod, Min, Max, Mean, Var, Sd, IndexMax, IndexMin };
enum class AggregateDirection : uint8_t { Full, Row, Column };

std::string_view mnemonic(UnaryOperator op);
std::string_view mnemonic(BinaryOperator op);
std::string_view spelling(UnaryOperator op);
std::string_view spelling(BinaryOperator op);
std::optional<UnaryOperator> findUnaryOperator(std::string_view mnemonic);
std::optional<BinaryOperator> findBinaryOperator(std::string_view mnemonic);
// By what DML writes: "+", "exp", "is.nan" ("is.na" and "ceiling" are aliases the front end
// resolves).
std::optional<UnaryOperator> findUnaryBySpelling(std::string_view spelling);
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

std::string_view mnemonic(AggregateKind kind);           // "sum", "index_max"
std::string_view mnemonic(AggregateDirection direction); // "full", "row", "column"
std::optional<AggregateKind> findAggregateKind(std::string_view mnemonic);
std::optional<AggregateDirection> findAggregateDirection(std::string_view mnemonic);

// The meaning on one cell. Comparisons and logic give 1.0 or 0.0; any non-zero value (NaN too) is
// true.
double evaluate(UnaryOperator op, double x);
double evaluate(BinaryOperator op, double a, double b);

// The same on two integers, for operators whose result is Number; the result is computed exactly.
// Returns nullopt where it doesn't fit int64 or for `%/%` by zero (both are the user's errors).
std::optional<int64_t> evaluateInteger(UnaryOperator op, int64_t x);
std::optional<int64_t> evaluateInteger(BinaryOperator op, int64_t a, int64_t b);

// sign(v)*floor(|v| + 2^-53), saturated to int64, NaN gives 0: how DML turns a double into an
// integer.
int64_t truncateToInteger(double value);

} // namespace tokamak
#endif
