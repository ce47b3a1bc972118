#include "runtime/transform/ColumnCodes.h"

#include "base/ElementType.h"
#include "base/Error.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/transform/CellTexts.h"
#include "runtime/transform/DistinctNumbers.h"
#include "runtime/transform/JavaHash.h"
#include "runtime/values/ScalarOperations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tokamak::runtime {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Calls body(row, bits, isNaN) for the numbers of a column without texts. Bits differ where the numbers' texts do.
template <typename Body>
void forEachNumber(const FrameColumn &column, int64_t begin, int64_t end, const Body &body) {
  if (const FrameColumn::Doubles *doubles = column.doubles()) {
    for (int64_t i = begin; i < end; ++i)
      body(i, std::bit_cast<uint64_t>((*doubles)[i]), std::isnan((*doubles)[i]));
    return;
  }
  for (int64_t i = begin; i < end; ++i)
    body(i, static_cast<uint64_t>(column.cell(i).asInteger()), false);
}

// Writes the codes of the numbers of a column without texts. A number is written as a text, of which the code is asked, once.
template <typename Code, typename CodeOfMissing, typename CodeOf>
void encodeNumbers(const FrameColumn &column, int64_t begin, int64_t end,
                   const CodeOfMissing &codeOfMissing, const CodeOf &codeOf, Code *to) {
  CellTexts texts(column);
  DistinctNumbers distinct;
  BudgetedVector<Code> codes;
  forEachNumber(column, begin, end, [&](int64_t i, uint64_t bits, bool isNaN) {
    if (isNaN) {
      to[i] = codeOfMissing();
      return;
    }
    auto place = static_cast<size_t>(distinct.placeOf(bits));
    if (place == codes.size())
      codes.push_back(codeOf(texts.at(i)));
    to[i] = codes[place];
  });
}

constexpr std::string_view separator = "\u00b7"; // in metadata

} // namespace

bool ColumnCodes::isMissing(const FrameColumn &column, int64_t row) {
  if (const FrameColumn::Texts *texts = column.texts()) {
    const std::optional<std::string> &text = (*texts)[row];
    return !text || text->empty();
  }
  return column.type() == FrameType::Double && std::isnan(column.cell(row).asDouble());
}

bool ColumnCodes::hasTexts() const {
  return transform_.coding == ColumnCoding::Recode || transform_.coding == ColumnCoding::Hash ||
         transform_.coding == ColumnCoding::WordEmbedding;
}

//===- from data -----------------------------------------------------------------------------===//

ColumnCodes ColumnCodes::of(const FrameColumn &column, const ColumnTransform &transform,
                            std::string_view name) {
  ColumnCodes codes(transform, name);
  codes.findReplacement(column);
  if (transform.coding == ColumnCoding::Recode || transform.coding == ColumnCoding::WordEmbedding)
    codes.collectValues(column);
  else if (transform.coding == ColumnCoding::Bin)
    codes.divide(column);
  return codes;
}

void ColumnCodes::findReplacement(const FrameColumn &column) {
  switch (transform_.imputation) {
  case Imputation::None:
    return;
  case Imputation::Constant:
    replacement_ = transform_.constant;
    return;
  case Imputation::Mean: {
    double sum = 0, count = 0;
    for (double number : numbersOf(column, "has no mean"))
      if (!std::isnan(number)) {
        sum += number;
        ++count;
      }
    if (count > 0)
      replacement_ = textOf(sum / count);
    return;
  }
  case Imputation::Mode: {
    // Of several, the one that comes first.
    std::unordered_map<std::string, int64_t> counts;
    CellTexts texts(column);
    int64_t most = 0;
    for (int64_t i = 0; i < column.rows(); ++i)
      if (!isMissing(column, i))
        most = std::max(most, ++counts[std::string(texts.at(i))]);
    for (int64_t i = 0; i < column.rows() && !replacement_; ++i)
      if (!isMissing(column, i) && counts[std::string(texts.at(i))] == most)
        replacement_ = texts.at(i);
    return;
  }
  }
}

int32_t ColumnCodes::addValue(std::string_view text) {
  if (auto found = codes_.find(text); found != codes_.end())
    return static_cast<int32_t>(found->second);
  values_.emplace_back(text);
  codes_.emplace(values_.back(), static_cast<int64_t>(values_.size()));
  return static_cast<int32_t>(values_.size());
}

void ColumnCodes::collectValues(const FrameColumn &column) {
  if (!column.texts()) {
    codesOfRows_.resize(static_cast<size_t>(column.rows()));
    encodeNumbers(
        column, 0, column.rows(), [&] { return replacement_ ? addValue(*replacement_) : 0; },
        [&](std::string_view text) { return addValue(text); }, codesOfRows_.data());
    return;
  }
  CellTexts texts(column);
  for (int64_t i = 0; i < column.rows(); ++i)
    if (!isMissing(column, i))
      addValue(texts.at(i));
    else if (replacement_)
      addValue(*replacement_);
}

// Intervals are open below, but for the first one, and closed above.
void ColumnCodes::divide(const FrameColumn &column) {
  BudgetedVector<double> numbers = numbersOf(column, "can't be divided into intervals");
  double replacement = replacement_ ? numberOfText(*replacement_) : missing;
  for (double &number : numbers)
    if (std::isnan(number))
      number = replacement;
  std::erase_if(numbers, [](double number) { return std::isnan(number); });
  if (numbers.empty())
    throw Error(
        fmt::format("transformencode: column {} has no number to divide into intervals", name_));
  auto count = static_cast<size_t>(transform_.bins);
  BufferPool::instance().checkRoomFor(
      convertCell<int64_t>(2.0 * sizeof(double) * static_cast<double>(transform_.bins)));
  if (transform_.binMethod == BinMethod::EqualWidth) {
    auto [least, largest] = std::ranges::minmax(numbers);
    double width = largest - least;
    if (width == 0) // of equal numbers there is one interval
      count = 1;
    for (size_t i = 0; i < count; ++i) {
      lower_.push_back(least + static_cast<double>(i) * width / static_cast<double>(count));
      upper_.push_back(least + static_cast<double>(i + 1) * width / static_cast<double>(count));
    }
    return;
  }
  std::ranges::sort(numbers);
  for (size_t i = 1; i <= count; ++i) {
    // The smallest number that is not below this share of all.
    size_t place = (i * numbers.size() + count - 1) / count - 1; // of i / count, rounded up
    lower_.push_back(upper_.empty() ? numbers.front() : upper_.back());
    upper_.push_back(numbers[place]);
  }
}

BudgetedVector<double> ColumnCodes::numbersOf(const FrameColumn &column,
                                              std::string_view purpose) const {
  BudgetedVector<double> numbers(static_cast<size_t>(column.rows()));
  copyNumbers(column, purpose, 0, column.rows(), numbers.data());
  return numbers;
}

void ColumnCodes::copyNumbers(const FrameColumn &column, std::string_view purpose, int64_t begin,
                              int64_t end, double *numbers) const {
  if (const FrameColumn::Doubles *doubles = column.doubles()) {
    std::copy(doubles->begin() + begin, doubles->begin() + end, numbers + begin);
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    if (isMissing(column, i)) {
      numbers[i] = missing;
      continue;
    }
    Value cell = column.cell(i);
    std::optional<double> number =
        cell.isString() ? parseDouble(cell.text()) : std::optional(cell.asDouble());
    if (!number)
      number = parseBoolean(cell.text());
    if (!number)
      throw Error(fmt::format(
          "transformencode: column {} {}: its cell in row {} is \"{}\", which is no number", name_,
          purpose, i + 1, cell.text()));
    numbers[i] = *number;
  }
}

//===- metadata ------------------------------------------------------------------------------===//

ColumnCodes ColumnCodes::fromMetadata(const FrameColumn &column, const ColumnTransform &transform,
                                      std::string_view name,
                                      std::optional<std::string> replacement) {
  ColumnCodes codes(transform, name);
  codes.replacement_ = std::move(replacement);
  auto fail = [&](int64_t row, std::string_view text, std::string_view expected) {
    throw Error(fmt::format("metadata of column {}: row {} is \"{}\", expected {}", name, row + 1,
                            text, expected));
  };
  CellTexts texts(column);
  for (int64_t i = 0; i < column.rows() && !isMissing(column, i); ++i) {
    std::string text(texts.at(i));
    size_t point = text.rfind(separator);
    std::string_view left = std::string_view(text).substr(0, point),
                     right = point == text.npos
                                 ? ""
                                 : std::string_view(text).substr(point + separator.size());
    switch (transform.coding) {
    case ColumnCoding::PassThrough:
      break;
    case ColumnCoding::Recode:
    case ColumnCoding::WordEmbedding: {
      std::optional<int64_t> code = parseInteger(right);
      if (!code || *code < 1)
        fail(i, text, "value\u00b7code");
      // Codes come in any order.
      if (static_cast<int64_t>(codes.values_.size()) < *code) {
        BufferPool::instance().checkRoomFor(
            convertCell<int64_t>(sizeof(std::string) * static_cast<double>(*code)));
        codes.values_.resize(static_cast<size_t>(*code));
      }
      codes.values_[*code - 1] = left;
      break;
    }
    case ColumnCoding::Bin: {
      std::optional<double> lower = parseDouble(left), upper = parseDouble(right);
      if (!lower || !upper)
        fail(i, text, "lower\u00b7upper border");
      codes.lower_.push_back(*lower);
      codes.upper_.push_back(*upper);
      break;
    }
    case ColumnCoding::Hash: {
      std::optional<int64_t> buckets = parseInteger(text);
      if (!buckets || *buckets < 1)
        fail(i, text, "the number of buckets");
      codes.transform_.buckets = *buckets;
      break;
    }
    }
  }
  int64_t number = 0;
  for (const std::string &value : codes.values_)
    codes.codes_.emplace(value, ++number);
  return codes;
}

int64_t ColumnCodes::count() const {
  switch (transform_.coding) {
  case ColumnCoding::PassThrough:
    return 0;
  case ColumnCoding::Recode:
  case ColumnCoding::WordEmbedding:
    return static_cast<int64_t>(values_.size());
  case ColumnCoding::Hash:
    return transform_.buckets;
  case ColumnCoding::Bin:
    return static_cast<int64_t>(upper_.size());
  }
  return 0;
}

int64_t ColumnCodes::metadataRows() const {
  return transform_.coding == ColumnCoding::Hash ? 1 : count();
}

std::string ColumnCodes::metadataText(int64_t row) const {
  switch (transform_.coding) {
  case ColumnCoding::PassThrough:
    return {};
  case ColumnCoding::Recode:
  case ColumnCoding::WordEmbedding:
    return fmt::format("{}{}{}", values_[row], separator, row + 1);
  case ColumnCoding::Hash:
    return fmt::format("{}", transform_.buckets);
  case ColumnCoding::Bin:
    return fmt::format("{}{}{}", textOf(lower_[row]), separator, textOf(upper_[row]));
  }
  return {};
}

//===- codes ---------------------------------------------------------------------------------===//

// Of a column without texts.
static int32_t hashOfCell(const FrameColumn &column, int64_t row) {
  if (const FrameColumn::Doubles *doubles = column.doubles())
    return hashOf((*doubles)[row]);
  const FrameColumn::Integers *integers = column.integers();
  return hashOf(integers ? (*integers)[row] : int64_t{(*column.booleans())[row] != 0});
}

double ColumnCodes::codeOf(std::string_view text) const {
  if (transform_.coding == ColumnCoding::Hash)
    return static_cast<double>(bucketOf(hashOf(text), transform_.buckets));
  auto found = codes_.find(text);
  return found == codes_.end() ? missing : static_cast<double>(found->second);
}

// Numbers outside of all intervals get the nearest one.
double ColumnCodes::binOf(double number) const {
  if (std::isnan(number) || upper_.empty())
    return missing;
  auto place = std::ranges::lower_bound(upper_, number) - upper_.begin();
  return static_cast<double>(std::min<ptrdiff_t>(place, static_cast<ptrdiff_t>(upper_.size()) - 1) +
                             1);
}

void ColumnCodes::encode(const FrameColumn &column, int64_t begin, int64_t end,
                         double *numbers) const {
  if (!hasTexts()) {
    copyNumbers(column, "is not recoded", begin, end, numbers);
    double replacement = replacement_ ? numberOfText(*replacement_) : missing;
    for (int64_t i = begin; i < end; ++i) {
      if (std::isnan(numbers[i]))
        numbers[i] = replacement;
      if (transform_.coding == ColumnCoding::Bin)
        numbers[i] = binOf(numbers[i]);
    }
    return;
  }
  if (!codesOfRows_.empty()) {
    for (int64_t i = begin; i < end; ++i)
      numbers[i] = codesOfRows_[i] > 0 ? codesOfRows_[i] : missing;
    return;
  }
  double replacement = replacement_ ? codeOf(*replacement_) : missing;
  // A missing text is one like others for its hash.
  if (!replacement_ && transform_.coding == ColumnCoding::Hash)
    replacement = codeOf("");
  if (transform_.coding == ColumnCoding::Hash && !column.texts()) {
    for (int64_t i = begin; i < end; ++i)
      numbers[i] = isMissing(column, i)
                       ? replacement
                       : static_cast<double>(bucketOf(hashOfCell(column, i), transform_.buckets));
    return;
  }
  if (!column.texts())
    return encodeNumbers(
        column, begin, end, [=] { return replacement; },
        [&](std::string_view text) { return codeOf(text); }, numbers);
  CellTexts texts(column);
  for (int64_t i = begin; i < end; ++i)
    numbers[i] = isMissing(column, i) ? replacement : codeOf(texts.at(i));
}

double ColumnCodes::numberOfText(const std::string &text) const {
  std::optional<double> number = parseDouble(text);
  if (!number)
    throw Error(fmt::format("transformencode: \"{}\" can't stand for a missing number in column {}",
                            text, name_));
  return *number;
}

Value ColumnCodes::decode(double code) const {
  if (transform_.coding == ColumnCoding::PassThrough || transform_.coding == ColumnCoding::Hash)
    return code;
  int64_t number = truncateToInteger(code);
  if (number < 1 || number > count())
    return transform_.coding == ColumnCoding::Bin ? Value(missing) : Value();
  if (transform_.coding == ColumnCoding::Bin)
    return (lower_[number - 1] + upper_[number - 1]) / 2;
  return values_[number - 1];
}

FrameType ColumnCodes::decodedType() const {
  bool isText =
      transform_.coding == ColumnCoding::Recode || transform_.coding == ColumnCoding::WordEmbedding;
  return isText ? FrameType::String : FrameType::Double;
}

} // namespace tokamak::runtime
