#include "runtime/values/TextFormat.h"

#include "base/Error.h"
#include "base/Sizes.h"
#include "runtime/memory/MemoryCharge.h"
#include "runtime/values/Characters.h"
#include "runtime/values/Frame.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tokamak::runtime {
namespace {

//===- digits --------------------------------------------------------------------------------===//

// The shortest decimal digits of a finite number >= 0: 0.d1d2... times 10^exponent.
struct Digits {
  std::string digits;
  int exponent = 0;

  explicit Digits(double value) {
    if (value == 0) {
      digits = "0";
      exponent = 1;
      return;
    }
    char buffer[32] = {}; // zeros terminate the string for atoi
    auto end =
        std::to_chars(buffer, buffer + sizeof buffer - 1, value, std::chars_format::scientific).ptr;
    std::string_view text(buffer, static_cast<size_t>(end - buffer));
    size_t mark = text.find('e');
    digits = text.substr(0, 1);
    if (mark > 2)
      digits += text.substr(2, mark - 2);
    exponent = std::atoi(text.data() + mark + 1) + 1;
  }

  // Keeps `count` digits; a half rounds up.
  void roundTo(int count) {
    if (count >= static_cast<int>(digits.size()))
      return;
    bool up = count >= 0 && digits[count] >= '5';
    digits.resize(std::max(count, 0));
    if (!up)
      return;
    size_t i = digits.size();
    while (i > 0 && digits[i - 1] == '9')
      digits[--i] = '0';
    if (i > 0) {
      ++digits[i - 1];
    } else {
      digits.insert(digits.begin(), '1');
      ++exponent;
    }
  }
};

std::string fixedText(double value, int precision) {
  Digits number(value);
  number.roundTo(number.exponent + precision);
  std::string whole, fraction(precision, '0');
  for (int i = 0; i < number.exponent; ++i)
    whole += i < static_cast<int>(number.digits.size()) ? number.digits[i] : '0';
  for (int i = 0; i < precision; ++i) {
    int digit = number.exponent + i;
    if (digit >= 0 && digit < static_cast<int>(number.digits.size()))
      fraction[i] = number.digits[digit];
  }
  if (whole.empty())
    whole = "0";
  return precision > 0 ? whole + "." + fraction : whole;
}

//===- toString ------------------------------------------------------------------------------===//

// Rounds halves to even. An exact zero has no sign, a negative number that rounds to zero keeps it.
// Behind the shortest digits that identify the number there are only zeros.
void appendCell(std::string &text, double cell, int64_t decimals) {
  if (!std::isfinite(cell)) {
    text += textOf(cell);
    return;
  }
  Digits number(std::abs(cell));
  bool isRounded = number.exponent + decimals < static_cast<int64_t>(number.digits.size());
  if (isRounded)
    fmt::format_to(std::back_inserter(text), "{:.{}f}", cell, decimals);
  else
    text += (cell < 0 ? "-" : "") + fixedText(std::abs(cell), static_cast<int>(decimals));
}

// Integers have no decimals, booleans are written as scalars are.
void appendCellOf(const Array &array, int64_t row, int64_t column, const TextOptions &options,
                  std::string &text) {
  if (isFloat(array.elementType()))
    return appendCell(text, array.at(row, column), options.decimals);
  withCellType(array.elementType(), [&]<typename Cell>() {
    Cell cell = array.cellsAs<Cell>()[row * array.columns() + column];
    if constexpr (std::is_same_v<Cell, bool>)
      text += cell ? "TRUE" : "FALSE";
    else if constexpr (std::is_integral_v<Cell>)
      fmt::format_to(std::back_inserter(text), "{}", cell);
  });
}

// A line "row column value" for each cell that is not 0. Of a CSR matrix only the entries are visited: it may have a
// thousand times as many cells.
void appendNonZeros(const Array &array, int64_t row, int64_t columns, const TextOptions &options,
                    std::string &text) {
  auto append = [&](int64_t column, const auto &appendValue) {
    fmt::format_to(std::back_inserter(text), "{}{}{}{}", row + 1, options.separator, column + 1,
                   options.separator);
    appendValue();
    text += options.lineSeparator;
  };
  if (!array.isSparse()) {
    for (int64_t j = 0; j < columns; ++j)
      if (array.at(row, j) != 0)
        append(j, [&] { appendCellOf(array, row, j, options, text); });
    return;
  }
  for (int64_t p = array.rowOffsets()[row]; p < array.rowOffsets()[row + 1]; ++p) {
    int64_t column = array.columnIndices()[p];
    double value = array.data()[p];
    if (column < columns && value != 0)
      append(column, [&] { appendCell(text, value, options.decimals); });
  }
}

std::string matrixText(const Array &array, const TextOptions &options) {
  std::string text;
  MemoryCharge charge;
  int64_t rows = std::min(array.rows(), options.rows),
          columns = std::min(array.columns(), options.columns);
  for (int64_t i = 0; i < rows; ++i) {
    if (options.sparse) {
      appendNonZeros(array, i, columns, options, text);
    } else {
      for (int64_t j = 0; j < columns; ++j) {
        text += j > 0 ? std::string_view(options.separator) : std::string_view();
        appendCellOf(array, i, j, options, text);
      }
      text += options.lineSeparator;
    }
    charge.atLeast(static_cast<int64_t>(text.capacity()));
  }
  return text;
}

// Arrays of rank above 2: the matrices in the last two dimensions, each below its index in the
// others, "[2,1,,]". An array of rank 1 is shown as a row.
std::string tensorText(const Array &array, const TextOptions &options) {
  const Shape &shape = array.shape();
  int outer = std::max(shape.rank() - 2, 0);
  int64_t rows = shape.rank() > 1 ? shape[outer] : 1, columns = shape[shape.rank() - 1];
  int64_t matrices = Shape(shape.sizes().first(outer)).cells();
  ArrayPointer flat = array.reshaped({checkedProduct(matrices, rows, "toString", "rows"), columns});
  std::string text;
  MemoryCharge charge;
  for (int64_t matrix = 0; matrix < std::min(matrices, options.rows); ++matrix) {
    std::string place;
    for (int64_t i = outer - 1, rest = matrix; i >= 0; rest /= shape[static_cast<int>(i--)])
      place = fmt::format("{},", rest % shape[static_cast<int>(i)] + 1) + place;
    if (outer > 0)
      text += "[" + place + ",]" + options.lineSeparator;
    text += matrixText(*flat->rowView(matrix * rows, (matrix + 1) * rows), options);
    charge.atLeast(static_cast<int64_t>(text.capacity()));
  }
  return text;
}

// Doubles have as many decimals as they need, at most `decimals`; a missing text is null.
std::string frameText(const Frame &frame, const TextOptions &options) {
  const std::string &separator = options.separator, &end = options.lineSeparator;
  int64_t rows = std::min(frame.rows(), options.rows),
          columns = std::min(frame.columns(), options.columns);
  std::string text =
      fmt::format("# FRAME: nrow = {}, ncol = {}{}", frame.rows(), frame.columns(), end);
  MemoryCharge charge;
  auto appendLine = [&](const auto &cell) {
    for (int64_t j = 0; j < columns; ++j) {
      text += j > 0 ? separator : "";
      cell(j);
    }
    text += end;
    charge.atLeast(static_cast<int64_t>(text.capacity()));
  };
  text += "#" + separator;
  appendLine([&](int64_t j) { text += frame.name(j); });
  text += "#" + separator;
  appendLine([&](int64_t j) { text += nameOf(frame.column(j)->type()); });
  for (int64_t i = 0; i < rows; ++i)
    appendLine([&](int64_t j) {
      if (frame.column(j)->type() == FrameType::Double)
        appendCell(text, frame.cell(i, j).asDouble(), options.decimals);
      else if (frame.cell(i, j).isNothing())
        text += missingText;
      else
        text += frame.column(j)->text(i);
    });
  return text;
}

std::string listText(const List &list, const TextOptions &options, int depth = 1) {
  constexpr int deepest = 1000;
  if (depth > deepest)
    throw Error(fmt::format("a list nested deeper than {} levels can't be shown", deepest));
  std::string text = "List containing:\n[";
  MemoryCharge charge;
  for (size_t i = 0; i < list.elements.size(); ++i) {
    if (i > 0)
      text += ", ";
    const Value &element = list.elements[i];
    if (element.isArray())
      text += "\nMatrix:\n";
    else if (element.isFrame())
      text += "\n";
    text +=
        element.isList() ? listText(*element.list(), options, depth + 1) : textOf(element, options);
    charge.atLeast(static_cast<int64_t>(text.capacity()));
  }
  return text + "]";
}

//===- formats -------------------------------------------------------------------------------===//

struct Conversion {
  bool left = false, plus = false, space = false, zero = false, grouping = false,
       parenthesis = false;
  int argument = 0; // position of the argument, from 1; 0: the next one
  int width = 0;
  int precision = -1;
  char letter = 0;
  bool capitals = false; // the letter was one, and so are those of the result
};

std::string scientificText(double value, int precision) {
  Digits number(value);
  number.roundTo(precision + 1);
  std::string digits = number.digits;
  digits.resize(precision + 1, '0');
  int exponent = value == 0 ? 0 : number.exponent - 1;
  std::string text = digits.substr(0, 1);
  if (precision > 0)
    text += "." + digits.substr(1);
  return text + fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', std::abs(exponent));
}

std::string generalText(double value, int precision) {
  precision = std::max(1, precision);
  Digits number(value);
  number.roundTo(precision);
  if (value != 0 && (number.exponent <= -4 || number.exponent > precision))
    return scientificText(value, precision - 1);
  return fixedText(value, value == 0 ? precision - 1 : precision - number.exponent);
}

std::string grouped(const std::string &digits) {
  size_t whole = std::min(digits.find('.'), digits.size());
  std::string text;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % 3 == 0)
      text += ',';
    text += digits[i];
  }
  return text + digits.substr(whole);
}

std::string padded(const Conversion &conversion, const std::string &text) {
  int64_t missing = conversion.width - countCharacters(text);
  if (missing <= 0)
    return text;
  std::string blanks(static_cast<size_t>(missing), ' ');
  return conversion.left ? text + blanks : blanks + text;
}

// Adds sign, grouping and leading zeros to a number whose magnitude is `digits`.
std::string numberText(const Conversion &conversion, bool negative, std::string digits,
                       bool isFinite = true) {
  if (conversion.grouping && isFinite)
    digits = grouped(digits);
  std::string before = negative           ? (conversion.parenthesis ? "(" : "-")
                       : conversion.plus  ? "+"
                       : conversion.space ? " "
                                          : "";
  std::string after = negative && conversion.parenthesis ? ")" : "";
  size_t used = before.size() + digits.size() + after.size();
  if (conversion.zero && isFinite && used < static_cast<size_t>(conversion.width))
    digits.insert(0, conversion.width - used, '0');
  return padded(conversion, before + digits + after);
}

std::string doubleText(const Conversion &conversion, double value) {
  if (std::isnan(value))
    return padded(conversion, "NaN");
  bool negative = std::signbit(value);
  if (std::isinf(value))
    return numberText(conversion, negative, "Infinity", false);
  double magnitude = std::fabs(value);
  int precision = conversion.precision < 0 ? 6 : conversion.precision;
  switch (conversion.letter) {
  case 'f':
    return numberText(conversion, negative, fixedText(magnitude, precision));
  case 'e':
    return numberText(conversion, negative, scientificText(magnitude, precision));
  default:
    return numberText(conversion, negative, generalText(magnitude, precision));
  }
}

std::string argumentText(const Conversion &conversion, const Value &argument,
                         std::string_view user) {
  auto fail = [&] {
    throw Error(
        fmt::format("{}: %{} cannot show {}", user, conversion.letter, argument.describe()));
  };
  switch (conversion.letter) {
  case 'd':
  case 'x':
  case 'o': {
    if (!argument.isInteger())
      fail();
    int64_t value = argument.asInteger();
    if (conversion.letter == 'x')
      return numberText(conversion, false, fmt::format("{:x}", static_cast<uint64_t>(value)));
    if (conversion.letter == 'o')
      return numberText(conversion, false, fmt::format("{:o}", static_cast<uint64_t>(value)));
    uint64_t magnitude =
        value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    return numberText(conversion, value < 0, std::to_string(magnitude));
  }
  case 'f':
  case 'e':
  case 'g':
    if (!argument.isDouble())
      fail();
    return doubleText(conversion, argument.asDouble());
  default: {
    // As in Java, booleans are printed in lower case, and %b of any other value is true.
    bool isTruth = argument.isBoolean() || conversion.letter == 'b';
    std::string text = isTruth ? (!argument.isBoolean() || argument.asBoolean() ? "true" : "false")
                               : textOf(argument, TextOptions());
    if (conversion.precision >= 0)
      text.resize(byteOfCharacter(text, conversion.precision));
    return padded(conversion, text);
  }
  }
}

// Parses the position of the argument (`2$`), flags, width, precision and letter behind a '%';
// advances `position` past them.
Conversion parseConversion(std::string_view format, size_t &position) {
  Conversion conversion;
  auto peek = [&] { return position < format.size() ? format[position] : '\0'; };
  auto readNumber = [&](int &number) {
    constexpr int largest = 100000;
    number = 0;
    for (; peek() >= '0' && peek() <= '9'; ++position)
      number = std::min(largest, number * 10 + (peek() - '0'));
  };
  size_t begin = position;
  readNumber(conversion.argument);
  if (conversion.argument > 0 && peek() == '$') {
    ++position;
  } else {
    conversion.argument = 0;
    position = begin;
  }
  for (bool isFlag = true; isFlag; position += isFlag) {
    switch (peek()) {
    case '-':
      conversion.left = true;
      break;
    case '+':
      conversion.plus = true;
      break;
    case ' ':
      conversion.space = true;
      break;
    case '0':
      conversion.zero = true;
      break;
    case ',':
      conversion.grouping = true;
      break;
    case '(':
      conversion.parenthesis = true;
      break;
    default:
      isFlag = false;
    }
  }
  readNumber(conversion.width);
  if (peek() == '.') {
    ++position;
    readNumber(conversion.precision);
  }
  conversion.capitals = peek() != '\0' && std::strchr("XEGB", peek()) != nullptr;
  conversion.letter = conversion.capitals ? static_cast<char>(peek() - 'A' + 'a') : peek();
  if (position < format.size())
    ++position;
  return conversion;
}

// Of what only has letters of ASCII: numbers and truth values.
std::string inCapitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

} // namespace

std::string textOf(const Value &value, const TextOptions &options) {
  if (value.isArray())
    return value.array()->shape().rank() == 2 ? matrixText(*value.array(), options)
                                              : tensorText(*value.array(), options);
  if (value.isFrame())
    return frameText(*value.frame(), options);
  return value.isList() ? listText(*value.list(), options) : value.asText();
}

std::string formatText(std::string_view format, std::span<const Value> arguments,
                       std::string_view user) {
  constexpr std::string_view letters = "dxofegsb";
  std::string text;
  size_t used = 0;
  for (size_t position = 0; position < format.size();) {
    if (format[position] != '%') {
      text += format[position++];
      continue;
    }
    size_t begin = position++;
    Conversion conversion = parseConversion(format, position);
    if (conversion.letter == 'n') {
      text += '\n';
    } else if (conversion.letter == '%') {
      text += padded(conversion, "%");
    } else if (conversion.letter == '\0' || letters.find(conversion.letter) == letters.npos) {
      throw Error(
          fmt::format("{}: unknown conversion '{}'", user, format.substr(begin, position - begin)));
    } else {
      size_t index = conversion.argument > 0 ? conversion.argument - 1 : used++;
      if (index >= arguments.size())
        throw Error(fmt::format("{}: no argument for '{}': the format needs more than {}", user,
                                format.substr(begin, position - begin), arguments.size()));
      std::string shown = argumentText(conversion, arguments[index], user);
      text += conversion.capitals ? inCapitals(std::move(shown)) : shown;
    }
  }
  return text;
}

} // namespace tokamak::runtime
