#include "runtime/io/NumpyFile.h"

#include "base/Error.h"
#include "base/Sizes.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace tokamak::runtime {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

// NumPy's names of types, without the byte order.
const std::map<std::string_view, ElementType> types = {
    {"f8", ElementType::F64}, {"f4", ElementType::F32}, {"f2", ElementType::F16},
    {"i1", ElementType::I8},  {"i2", ElementType::I16}, {"i4", ElementType::I32},
    {"i8", ElementType::I64}, {"u1", ElementType::U8},  {"u2", ElementType::U16},
    {"u4", ElementType::U32}, {"u8", ElementType::U64}, {"b1", ElementType::Bool}};

// What follows a key of the header, which is a dictionary as Python writes it.
std::string_view valueOf(std::string_view header, std::string_view key) {
  size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos)
    throw Error(fmt::format("the header has no '{}'", key));
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

ElementType typeOf(std::string_view header) {
  std::string_view text = valueOf(header, "descr");
  if (text.size() < 5 || text[0] != '\'')
    throw Error("cells of several fields");
  std::string_view name = text.substr(1, text.find('\'', 1) - 1);
  bool isOneByte = name.starts_with('|');
  auto found = name.empty() ? types.end() : types.find(name.substr(1));
  if (found == types.end() || !(name.starts_with('<') || isOneByte))
    throw Error(fmt::format("cells of type '{}' are not supported", name));
  return found->second;
}

Shape shapeOf(std::string_view header) {
  std::string_view text = valueOf(header, "shape");
  std::vector<int64_t> sizes;
  if (!text.starts_with('('))
    throw Error("the header has no shape");
  text.remove_prefix(1);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.starts_with(')'))
      return Shape(std::span<const int64_t>(sizes));
    int64_t size = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0)
      throw Error("the shape is no list of sizes");
    sizes.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

// Cells in column-major order become row-major.
void copyTransposed(const Array &into, std::string_view cells, std::byte *to) {
  const Shape &shape = into.shape();
  int64_t size = byteSize(into.elementType());
  for (int64_t cell = 0; cell < into.cells(); ++cell) {
    int64_t rest = cell, from = 0;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      int64_t stride = 1;
      for (int j = 0; j < i; ++j)
        stride *= shape[j];
      from += rest % shape[i] * stride;
      rest /= shape[i];
    }
    std::memcpy(to + cell * size, cells.data() + from * size, static_cast<size_t>(size));
  }
}

ArrayPointer parse(std::string_view bytes) {
  if (!bytes.starts_with(magic) || bytes.size() < 10)
    throw Error("it doesn't begin as files of NumPy do");
  auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(bytes[at])); };
  bool isLong = byte(6) >= 2;
  size_t start = isLong ? 12 : 10;
  if (bytes.size() < start)
    throw Error("it ends within its header");
  size_t length = byte(8) | byte(9) << 8;
  if (isLong)
    length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - start < length)
    throw Error("it ends within its header");
  std::string_view header = bytes.substr(start, length), cells = bytes.substr(start + length);
  ElementType type = typeOf(header);
  Shape shape = shapeOf(header);
  bool isColumnMajor = valueOf(header, "fortran_order").starts_with("True");
  // Before memory is asked for: a header may claim anything.
  auto held = static_cast<int64_t>(cells.size()) / byteSize(type);
  std::optional<int64_t> claimed = productOfSizes(shape.sizes());
  if (!claimed || *claimed > held)
    throw Error(fmt::format("it has {} cells, not {}", held, shape.text()));
  ArrayPointer array = Array::create(shape, type);
  if (isColumnMajor)
    copyTransposed(*array, cells, array->mutableBytes());
  else if (*claimed > 0)
    std::memcpy(array->mutableBytes(), cells.data(), static_cast<size_t>(array->bytes()));
  if (type == ElementType::Bool) { // a file may hold other bytes than 0 and 1
    auto *bytes = reinterpret_cast<unsigned char *>(array->mutableBytes());
    for (int64_t i = 0; i < array->cells(); ++i)
      bytes[i] = bytes[i] != 0;
  }
  return array;
}

} // namespace

ArrayPointer parseNumpy(const std::string &path, std::string_view bytes) {
  try {
    return parse(bytes);
  } catch (const Error &error) {
    throw Error(fmt::format("can't read '{}': {}", path, error.message()));
  }
}

std::string numpyHeader(const Array &array) {
  std::string_view name;
  for (const auto &[text, type] : types)
    if (type == array.elementType())
      name = text;
  std::string shape;
  for (int64_t size : array.shape().sizes())
    shape += fmt::format("{}, ", size);
  if (array.shape().rank() > 1)
    shape.resize(shape.size() - 2); // only a single size is followed by a comma
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   byteSize(array.elementType()) == 1 ? '|' : '<', name, shape);
  // Cells begin at a multiple of 64 bytes; a line break ends the header.
  size_t length = header.size() + 1, padded = (10 + length + 63) / 64 * 64 - 10;
  header.append(padded - length, ' ');
  header += '\n';
  std::string text(magic);
  text += {'\1', '\0', static_cast<char>(padded & 0xff), static_cast<char>(padded >> 8)};
  return text + header;
}

std::string formatNumpy(const ArrayReference &given) {
  bool isWidened = given->elementType() == ElementType::BF16;
  ArrayReference dense =
      Array::asDense(isWidened ? Array::withElementType(given, ElementType::F32) : given);
  std::string text = numpyHeader(*dense);
  text.append(reinterpret_cast<const char *>(dense->rawBytes()),
              static_cast<size_t>(dense->bytes()));
  return text;
}

} // namespace tokamak::runtime
