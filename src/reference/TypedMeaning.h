// The reference semantics of arrays whose elements are not doubles.
//
// The reference holds arrays of floats (f64, f32, f16, bf16) as doubles that their type can
// represent, and arrays of integers or i1 in their own type. Operations on floats compute in doubles
// and round each result once; operators, aggregates and products of integers compute in integers, by
// evaluate(op, type, ...) of base/CellOperators.h. All other operations on integers that do not
// only move cells convert them to doubles first.
//
//   Value sum = binaryOfIntegers(BinaryOperator::Add, x, y, ElementType::I8);   // wraps
//   Value cells = converted(sum, ElementType::I8, ElementType::F32);
#ifndef TOKAMAK_REFERENCE_TYPEDMEANING_H
#define TOKAMAK_REFERENCE_TYPEDMEANING_H

#include "base/CellOperators.h"
#include "base/ElementType.h"
#include "reference/CellMeaning.h"
#include "runtime/values/Value.h"

#include <functional>
#include <span>

namespace tokamak::reference {

// The array's cells in another type, as the reference holds arrays of that type.
runtime::Value converted(const runtime::Value &array, ElementType from, ElementType to);
// The cells' bits as cells of another type of the same size; `from` and `to` are names of types. Of floats whose type
// the reference doesn't hold, the bits are those that it would have.
runtime::Value bitcast(const runtime::Value &array, const runtime::Value &from,
                       const runtime::Value &to);
// A number as it goes with the cells of an array of this type: rounded, or wrapped.
runtime::Value scalarBeside(ElementType type, const runtime::Value &number);
// The only cell of an array of integers or i1, as a scalar. Throws Error if there is not one cell.
runtime::Value scalarOfIntegers(const runtime::Value &array);
// Applies an operation that only moves cells. Arrays of integers are passed to it as doubles with
// the same bits; they may be filled up with zeros.
runtime::Value
movedIntegers(std::span<const runtime::Value> operands, ElementType type,
              const std::function<runtime::Value(std::span<const runtime::Value>)> &move);

// For arrays of integers or i1 (and numbers that went through scalarBeside). The results of
// comparisons and of logic are 0 and 1 in `result`, the operands' type or i1.
runtime::Value unaryOfIntegers(UnaryOperator op, const runtime::Value &operand, ElementType result);
runtime::Value binaryOfIntegers(BinaryOperator op, const runtime::Value &lhs,
                                const runtime::Value &rhs, ElementType result,
                                BinarySizes sizes = BinarySizes::Broadcast);
// Exact where the result fits its type, else reduced to the lowest bits. All cells together give a
// 64-bit integer. Results for no cells: sum 0, prod 1, min and max the largest and the smallest
// integer of the operand's type, index 1.
runtime::Value aggregateIntegers(AggregateKind kind, AggregateDirection direction,
                                 const runtime::Value &operand, ElementType result);
runtime::Value multiplyIntegers(const runtime::Value &lhs, const runtime::Value &rhs,
                                ElementType result);

} // namespace tokamak::reference
#endif
