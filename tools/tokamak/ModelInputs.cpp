#include "tokamak/ModelInputs.h"

#include "api/TensorArrays.h"
#include "base/Error.h"
#include "base/NearestNames.h"
#include "frontend/onnx/file/MappedFile.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/file/TypeText.h"
#include "runtime/io/InputFile.h"
#include "runtime/io/NumpyFile.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <random>

using namespace tokamak;
using onnx::ValueInfo;
using runtime::Array;
using runtime::ArrayPointer;

using Dimensions = std::vector<onnx::Dimension>;
using Sizes = std::vector<int64_t>;

std::pair<std::string, std::string> tokamak::splitNamed(const std::string &option,
                                                        const char *optionName) {
  size_t equal = option.find('=');
  if (equal == option.npos || equal == 0)
    throw Error(fmt::format("--{}={}: NAME=VALUE is expected", optionName, option));
  return {option.substr(0, equal), option.substr(equal + 1)};
}

//===- sizes ---------------------------------------------------------------------------------===//

static Sizes sizesIn(std::string_view text, const std::string &option) {
  Sizes sizes;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int64_t size = 0;
    auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0 || (next < end && *next != 'x'))
      throw Error(fmt::format("--shape={}: '{}': sizes are written as 1x3x224x224", option, text));
    sizes.push_back(size);
    at = next < end ? next + 1 : next;
  }
  return sizes;
}

// Of a line each.
static std::vector<Sizes> sizesInFile(const std::string &path, const std::string &option) {
  runtime::InputFile file(path);
  std::vector<Sizes> all;
  std::string_view rest = file.bytes();
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.empty())
      all.push_back(sizesIn(line, option));
  }
  file.checkWhole();
  if (all.empty())
    throw Error(fmt::format("--shape={}: the file has no line with sizes", option));
  return all;
}

// The shape that the file of the model says.
static Sizes declaredSizes(const ValueInfo &input) {
  Sizes sizes;
  for (const onnx::Dimension &dimension : input.type.shape.value_or(Dimensions()))
    if (const auto *size = std::get_if<int64_t>(&dimension); size && *size > 0)
      sizes.push_back(*size);
    else
      throw Error(fmt::format("the sizes of input {}, {}, are not all known: give --shape={}=…",
                              onnx::quotedName(input.name), onnx::typeText(input.type),
                              onnx::printableName(input.name)));
  return sizes;
}

//===- values --------------------------------------------------------------------------------===//

static bool isMade(const std::string &source) {
  return source == "zeros" || source.starts_with("random:");
}

static ArrayPointer made(const ValueInfo &input, const std::string &how, const Sizes &sizes) {
  std::optional<ElementType> element = onnx::heldElementTypeOf(input.type.dataType);
  if (!element)
    throw Error(fmt::format("input {} is of type {}, which is not supported yet",
                            onnx::quotedName(input.name), onnx::nameOf(input.type.dataType)));
  ArrayPointer array = Array::create(runtime::Shape(std::span<const int64_t>(sizes)), *element);
  bool isZero = how == "zeros";
  uint64_t seed = 0;
  if (!isZero)
    std::from_chars(how.data() + how.find(':') + 1, how.data() + how.size(), seed);
  std::mt19937_64 random(seed);
  // Floats between -1 and 1; integers are small, so that they may be places of something.
  withCellType(*element, [&]<typename Cell>() {
    auto *cells = array->mutableCellsAs<Cell>();
    for (int64_t i = 0; i < array->cells(); ++i) {
      double part = static_cast<double>(random() >> 11) * 0x1p-53;
      double number = isFloatCell<Cell> ? 2 * part - 1 : std::floor(2 * part);
      cells[i] = convertCell<Cell>(isZero ? 0.0 : number);
    }
  });
  return array;
}

static void checkValue(const ValueInfo &input, const Array &array) {
  auto complain = [&] {
    throw Error(fmt::format("input {} is {}, but the value {} [{}]", onnx::quotedName(input.name),
                            onnx::typeText(input.type), nameOf(array.elementType()),
                            array.shape().text()));
  };
  if (onnx::heldElementTypeOf(input.type.dataType) != array.elementType())
    complain();
  if (!input.type.shape)
    return;
  const Dimensions &declared = *input.type.shape;
  if (static_cast<int>(declared.size()) != array.shape().rank())
    complain();
  for (size_t i = 0; i < declared.size(); ++i)
    if (const auto *size = std::get_if<int64_t>(&declared[i]);
        size && *size > 0 && *size != array.shape()[static_cast<int>(i)])
      complain();
}

ModelInputs::ModelInputs(const CommandLine &line, std::vector<const ValueInfo *> inputs)
    : inputs_(std::move(inputs)) {
  for (const std::string &option : line.inputs) {
    auto [name, source] = splitNamed(option, "input");
    given_[name] = {&inputNamed(name), source, {}, nullptr};
  }
  for (const std::string &option : line.shapes) {
    auto [name, text] = splitNamed(option, "shape");
    inputNamed(name);
    auto given = given_.find(name);
    if (given == given_.end() || !isMade(given->second.source))
      continue;
    if (text.starts_with('@'))
      given->second.shapes = sizesInFile(text.substr(1), option);
    else
      given->second.shapes = {sizesIn(text, option)};
    int count = static_cast<int>(given->second.shapes.size());
    if (count > 1 && variants_ > 1 && count != variants_)
      throw Error(fmt::format("--shape={}: the file has {} lines, another one {}", option, count,
                              variants_));
    variants_ = std::max(variants_, count);
  }
  for (const ValueInfo *input : inputs_) {
    auto given = given_.find(input->name);
    if (given == given_.end())
      throw Error(fmt::format("input {}, {}, has no value: give --input={}=FILE",
                              onnx::quotedName(input->name), onnx::typeText(input->type),
                              onnx::printableName(input->name)));
    given->second.value = read(given->second);
    checkValue(*input, *given->second.value);
  }
}

const ValueInfo &ModelInputs::inputNamed(const std::string &name) const {
  std::vector<std::string> names;
  for (const ValueInfo *input : inputs_) {
    if (input->name == name)
      return *input;
    names.emplace_back(input->name);
  }
  Error error(fmt::format("the model has no input {}", onnx::quotedName(name)));
  if (std::vector<std::string> near = nearestCandidates(name, names); !near.empty())
    error.note(fmt::format("did you mean {}?", onnx::quotedName(near.front())));
  throw error;
}

ArrayPointer ModelInputs::read(const Given &given) const {
  const std::string &source = given.source;
  if (isMade(source))
    return made(*given.input, source,
                given.shapes.empty() ? declaredSizes(*given.input) : given.shapes.front());
  bool isTensor = source.ends_with(".pb");
  if (!isTensor && !source.ends_with(".npy"))
    throw Error(fmt::format("'{}': a value is a file .npy or .pb, zeros or random:SEED", source));
  onnx::MappedFile file(source);
  return isTensor ? api::arrayOf(onnx::readTensor({source, file.bytes()}), nullptr)
                  : runtime::parseNumpy(source, file.bytes());
}

bool ModelInputs::hasVariants(std::string_view input) const {
  return given_.find(input)->second.shapes.size() > 1;
}

ArrayPointer ModelInputs::value(std::string_view input, int variant) const {
  const Given &given = given_.find(input)->second;
  if (variant == 0 || given.shapes.size() <= 1)
    return given.value;
  ArrayPointer array = made(*given.input, given.source, given.shapes[variant]);
  checkValue(*given.input, *array);
  return array;
}

std::vector<std::vector<Size>>
ModelInputs::expectedSizes(std::span<const ValueInfo *const> inputs) const {
  std::map<Sizes, int64_t> symbols; // of the sizes of a dimension in all variants
  std::vector<std::vector<Size>> expected;
  for (const ValueInfo *input : inputs) {
    const Given &given = given_.find(input->name)->second;
    std::vector<Size> &sizes = expected.emplace_back();
    for (int64_t first : given.value->shape().sizes()) {
      Sizes column;
      for (const Sizes &shape : given.shapes)
        if (sizes.size() < shape.size()) // else the value will be refused
          column.push_back(shape[sizes.size()]);
      if (column.empty())
        column.push_back(first);
      auto [least, most] = std::ranges::minmax(column);
      int64_t number = symbols.try_emplace(column, symbols.size()).first->second;
      sizes.push_back(Size::symbol(number, -1, {least, most}));
    }
  }
  return expected;
}
