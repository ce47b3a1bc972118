#include "runtime/transform/FrameFunctions.h"

#include "base/Error.h"
#include "base/TrimmedText.h"
#include "runtime/io/NumberReader.h"
#include "runtime/transform/ExponentialSmoothing.h"
#include "runtime/transform/TextPatterns.h"

#include <cmath>
#include <fmt/format.h>
#include <random>

namespace tokamak::runtime {
namespace {

using Texts = std::vector<std::string>;

Texts split(std::string_view text, char separator) {
  Texts parts;
  for (;;) {
    size_t end = text.find(separator);
    parts.emplace_back(trimmed(text.substr(0, end)));
    if (end == text.npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

double numberArgument(const std::string &text, std::string_view name) {
  std::optional<double> number = fieldNumber(text);
  if (!number)
    throw Error(fmt::format("map: {} of the function must be a number, got '{}'", name, text));
  return *number;
}

int64_t integerArgument(const std::string &text, std::string_view name) {
  double number = numberArgument(text, name);
  constexpr double most = 1e9;
  if (!(number >= 0 && number <= most && number == std::trunc(number)))
    throw Error(fmt::format("map: {} of the function must be an integer of 0 to 1e9, got '{}'",
                            name, text));
  return static_cast<int64_t>(number);
}

FramePointer replaceOffPattern(const Frame &frame, const Texts &arguments) {
  double threshold = numberArgument(arguments[0], "the threshold");
  std::vector<ColumnPointer> columns = frame.allColumns();
  for (ColumnPointer &column : columns) {
    Texts texts;
    for (int64_t i = 0; i < frame.rows(); ++i)
      texts.push_back(column->text(i));
    std::vector<int64_t> off = rowsOffPattern(texts, threshold);
    if (off.empty())
      continue;
    for (int64_t row : off)
      texts[row] = arguments[1];
    FrameColumn::Texts cells(texts.begin(), texts.end());
    for (int64_t i = 0; i < frame.rows(); ++i)
      if (column->cell(i).isNothing() && texts[i].empty())
        cells[i].reset(); // what is missing stays so
    column = std::make_shared<const FrameColumn>(std::move(cells));
  }
  return std::make_shared<const Frame>(frame.rows(), std::move(columns), frame.givenNames());
}

SmoothingMode smoothingMode(const std::string &text) {
  if (text == "single")
    return SmoothingMode::Single;
  if (text == "double")
    return SmoothingMode::Double;
  if (text == "triple")
    return SmoothingMode::Triple;
  throw Error(
      fmt::format("map: the mode of smoothing is single, double or triple, got '{}'", text));
}

FramePointer smoothColumns(const Frame &frame, const Texts &arguments) {
  int64_t tries = integerArgument(arguments[0], "the number of tries");
  SmoothingMode mode = smoothingMode(arguments[1]);
  int64_t period = integerArgument(arguments[2], "the period");
  SmoothingWeights given = {numberArgument(arguments[3], "the weight of the level"),
                            numberArgument(arguments[4], "the weight of the trend"),
                            numberArgument(arguments[5], "the weight of the season")};
  bool isDrawn = std::isnan(given.level) || std::isnan(given.trend) || std::isnan(given.season);
  std::mt19937_64 random; // the same in each run
  auto drawnIfNaN = [&](double weight) {
    constexpr double unit = 0x1p-53;
    return std::isnan(weight) ? static_cast<double>(random() >> 11) * unit : weight;
  };
  std::vector<ColumnPointer> columns;
  for (int64_t j = 0; j < frame.columns(); ++j) {
    std::shared_ptr<FrameColumn> numbers = frame.column(j)->converted(FrameType::Double, "map", j);
    std::vector<double> series, best;
    for (int64_t i = 0; i < frame.rows(); ++i)
      series.push_back(numbers->cell(i).asDouble());
    double least = 0;
    for (int64_t i = 0; i < (isDrawn ? std::max<int64_t>(tries, 1) : 1); ++i) {
      SmoothingWeights weights = {drawnIfNaN(given.level), drawnIfNaN(given.trend),
                                  drawnIfNaN(given.season)};
      try {
        std::vector<double> smoothed = smoothSeries(series, mode, weights, period);
        double error = errorOfSmoothing(series, smoothed);
        if (i == 0 || error < least) {
          least = error;
          best = std::move(smoothed);
        }
      } catch (const Error &error) {
        throw Error(fmt::format("map: {} (column {})", error.message(), j + 1));
      }
    }
    columns.push_back(
        std::make_shared<const FrameColumn>(FrameColumn::Doubles(best.begin(), best.end())));
  }
  return std::make_shared<const Frame>(frame.rows(), std::move(columns));
}

struct FrameFunction {
  std::string_view name;
  char separator; // of arguments
  size_t arguments;
  FramePointer (*call)(const Frame &, const Texts &);
};

constexpr FrameFunction functions[] = {
    {"UtilFunctions.syntacticalPatternDiscovery", ',', 2, &replaceOffPattern},
    {"UtilFunctions.exponentialMovingAverageImputation", ';', 6, &smoothColumns},
};

} // namespace

std::optional<FramePointer> callFrameFunction(const Frame &frame, std::string_view text) {
  text = trimmed(text);
  for (const FrameFunction &function : functions) {
    if (!text.starts_with(function.name))
      continue;
    std::string_view inside = trimmed(text.substr(function.name.size()));
    if (!inside.starts_with('(') || !inside.ends_with(')'))
      throw Error(fmt::format("map: {} needs its arguments in parentheses", function.name));
    Texts arguments = split(inside.substr(1, inside.size() - 2), function.separator);
    if (arguments.size() != function.arguments)
      throw Error(fmt::format("map: {} takes {} arguments with '{}' between them, got {}",
                              function.name, function.arguments, function.separator,
                              arguments.size()));
    return function.call(frame, arguments);
  }
  return std::nullopt;
}

} // namespace tokamak::runtime
