// The functions of numbers that the lambda expressions of `map` call: those of Math, and conversions.
#include "runtime/transform/CellFunctionLibrary.h"

#include "base/Error.h"
#include "runtime/values/ScalarOperations.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

namespace tokamak::runtime {
namespace {

using CellValue = CellFunctionValue;
using CellValues = std::span<const CellFunctionValue>;
using View = std::string_view;

CellValue parsedInteger(const CellValue &value, std::string_view function) {
  if (std::holds_alternative<int64_t>(value))
    return value;
  const std::string &text = textAt(CellValues(&value, 1), 0, function);
  if (std::optional<int64_t> integer = parseInteger(text))
    return *integer;
  throw Error(fmt::format("map: '{}': \"{}\" is no integer", function, text));
}

CellValue parsedDouble(const CellValue &value, std::string_view function) {
  if (isCellNumber(value))
    return cellNumber(value, function);
  const std::string &text = textAt(CellValues(&value, 1), 0, function);
  if (std::optional<double> number = parseDouble(text))
    return *number;
  throw Error(fmt::format("map: '{}': \"{}\" is no number", function, text));
}

// Of 32 bits: integers lose the upper ones, doubles end at the limits.
int64_t intValue(const CellValue &value, std::string_view function) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return static_cast<int32_t>(*integer);
  return convertCell<int32_t>(cellNumber(value, function));
}

// The lesser of two numbers, or the greater one; NaN if one is, and -0 is less than 0.
CellValue lesser(const CellValue &a, const CellValue &b, bool isGreater,
                 std::string_view function) {
  const auto *left = std::get_if<int64_t>(&a), *right = std::get_if<int64_t>(&b);
  if (left && right)
    return isGreater ? std::max(*left, *right) : std::min(*left, *right);
  double x = cellNumber(a, function), y = cellNumber(b, function);
  if (std::isnan(x) || (x == y && std::signbit(x) != isGreater))
    return x;
  return std::isnan(y) || (isGreater ? y >= x : y <= x) ? y : x;
}

template <double (*Function)(double)> CellValue ofNumber(CellValues v, View n) {
  return Function(cellNumber(v[0], n));
}

template <double (*Function)(double, double)> CellValue ofNumbers(CellValues v, View n) {
  return Function(cellNumber(v[0], n), cellNumber(v[1], n));
}

double signOf(double number) { return number > 0 ? 1 : number < 0 ? -1 : number; }
double radians(double degrees) { return degrees * (std::numbers::pi / 180); }
double degrees(double radians) { return radians * (180 / std::numbers::pi); }

// Down to the next integer, where / goes towards 0.
CellValue floorDivision(CellValues v, View n, bool wantsRest) {
  int64_t x = integerAt(v, 0, n), y = integerAt(v, 1, n);
  if (y == 0)
    throw Error(fmt::format("map: '{}': an integer is divided by 0", n));
  if (y == -1) // the least integer has no opposite
    return wantsRest ? int64_t{0} : static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  bool isBelow = x % y != 0 && (x < 0) != (y < 0);
  return wantsRest ? x % y + (isBelow ? y : 0) : x / y - (isBelow ? 1 : 0);
}

template <auto Number> CellValue constant(CellValues, View) { return Number; }

// As Java converts a number: what has no place in the smaller type loses its upper bits, doubles end at the limits.
template <typename Integer> CellValue castTo(CellValues v, View n) {
  CellValue value = promoted(v[0]);
  if (const auto *integer = std::get_if<int64_t>(&value))
    return int64_t{static_cast<Integer>(*integer)};
  if constexpr (sizeof(Integer) == sizeof(int64_t))
    return convertCell<int64_t>(cellNumber(value, n));
  else
    return int64_t{static_cast<Integer>(intValue(value, n))};
}

constexpr CellLibraryFunction table[] = {
    {"(int)", 1, 1, castTo<int32_t>},
    {"(long)", 1, 1, castTo<int64_t>},
    {"(short)", 1, 1, castTo<int16_t>},
    {"(byte)", 1, 1, castTo<int8_t>},
    {"(double)", 1, 1,
     [](CellValues v, View n) -> CellValue { return cellNumber(promoted(v[0]), n); }},
    {"(float)", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return double{static_cast<float>(cellNumber(promoted(v[0]), n))};
     }},
    {"(char)", 1, 1,
     [](CellValues v, View n) -> CellValue {
       return static_cast<char32_t>(
           static_cast<uint16_t>(std::get<int64_t>(castTo<int32_t>(v, n))));
     }},
    {".intValue", 1, 1, [](CellValues v, View n) -> CellValue { return intValue(v[0], n); }},
    {".doubleValue", 1, 1, [](CellValues v, View n) -> CellValue { return cellNumber(v[0], n); }},
    {"Integer.valueOf", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Integer.parseInt", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Long.valueOf", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Long.parseLong", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedInteger(v[0], n); }},
    {"Double.valueOf", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedDouble(v[0], n); }},
    {"Double.parseDouble", 1, 1,
     [](CellValues v, View n) -> CellValue { return parsedDouble(v[0], n); }},
    {"Math.abs", 1, 1,
     [](CellValues v, View n) -> CellValue {
       if (const auto *integer = std::get_if<int64_t>(&v[0]))
         return *integer < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(*integer)) : *integer;
       return std::abs(cellNumber(v[0], n));
     }},
    {"Math.min", 2, 2,
     [](CellValues v, View n) -> CellValue { return lesser(v[0], v[1], /*isGreater=*/false, n); }},
    {"Math.max", 2, 2,
     [](CellValues v, View n) -> CellValue { return lesser(v[0], v[1], /*isGreater=*/true, n); }},
    {"Math.round", 1, 1,
     [](CellValues v, View n) -> CellValue {
       double number = cellNumber(v[0], n), floor = std::floor(number);
       return convertCell<int64_t>(number - floor >= 0.5 ? floor + 1 : floor);
     }},
    {"Math.floor", 1, 1, ofNumber<::floor>},
    {"Math.ceil", 1, 1, ofNumber<::ceil>},
    {"Math.rint", 1, 1, ofNumber<::nearbyint>},
    {"Math.sqrt", 1, 1, ofNumber<::sqrt>},
    {"Math.cbrt", 1, 1, ofNumber<::cbrt>},
    {"Math.exp", 1, 1, ofNumber<::exp>},
    {"Math.expm1", 1, 1, ofNumber<::expm1>},
    {"Math.log", 1, 1, ofNumber<::log>},
    {"Math.log10", 1, 1, ofNumber<::log10>},
    {"Math.log1p", 1, 1, ofNumber<::log1p>},
    {"Math.sin", 1, 1, ofNumber<::sin>},
    {"Math.cos", 1, 1, ofNumber<::cos>},
    {"Math.tan", 1, 1, ofNumber<::tan>},
    {"Math.asin", 1, 1, ofNumber<::asin>},
    {"Math.acos", 1, 1, ofNumber<::acos>},
    {"Math.atan", 1, 1, ofNumber<::atan>},
    {"Math.sinh", 1, 1, ofNumber<::sinh>},
    {"Math.cosh", 1, 1, ofNumber<::cosh>},
    {"Math.tanh", 1, 1, ofNumber<::tanh>},
    {"Math.signum", 1, 1, ofNumber<signOf>},
    {"Math.toRadians", 1, 1, ofNumber<radians>},
    {"Math.toDegrees", 1, 1, ofNumber<degrees>},
    {"Math.pow", 2, 2, ofNumbers<::pow>},
    {"Math.atan2", 2, 2, ofNumbers<::atan2>},
    {"Math.hypot", 2, 2, ofNumbers<::hypot>},
    {"Math.floorDiv", 2, 2,
     [](CellValues v, View n) { return floorDivision(v, n, /*wantsRest=*/false); }},
    {"Math.floorMod", 2, 2,
     [](CellValues v, View n) { return floorDivision(v, n, /*wantsRest=*/true); }},
    {"Double.isNaN", 1, 1,
     [](CellValues v, View n) -> CellValue { return std::isnan(cellNumber(v[0], n)); }},
    {"Math.PI", 0, 0, constant<std::numbers::pi>},
    {"Math.E", 0, 0, constant<std::numbers::e>},
    {"Integer.MAX_VALUE", 0, 0, constant<int64_t{INT32_MAX}>},
    {"Integer.MIN_VALUE", 0, 0, constant<int64_t{INT32_MIN}>},
    {"Long.MAX_VALUE", 0, 0, constant<INT64_MAX>},
    {"Long.MIN_VALUE", 0, 0, constant<INT64_MIN>},
    {"Double.MAX_VALUE", 0, 0, constant<std::numeric_limits<double>::max()>},
    {"Double.NaN", 0, 0, constant<std::numeric_limits<double>::quiet_NaN()>},
    {"Double.POSITIVE_INFINITY", 0, 0, constant<std::numeric_limits<double>::infinity()>},
    {"Double.NEGATIVE_INFINITY", 0, 0, constant<-std::numeric_limits<double>::infinity()>},
};

} // namespace

std::span<const CellLibraryFunction> cellNumberFunctions() { return table; }

} // namespace tokamak::runtime
