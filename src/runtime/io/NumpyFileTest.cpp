// Files of NumPy; the bytes of the first one were written by NumPy 1.26.
#include "runtime/io/NumpyFile.h"

#include "base/Error.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::runtime;

namespace {

// numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], dtype="<i2")
std::string sixIntegers(std::string_view order = "False") {
  std::string header =
      "{'descr': '<i2', 'fortran_order': " + std::string(order) + ", 'shape': (2, 3), }";
  header.append(117 - header.size(), ' ');
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += header + "\n";
  for (char cell : {1, 2, 3, 4, 5, 6})
    bytes += {cell, '\0'};
  return bytes;
}

std::string messageOf(std::string_view bytes) {
  try {
    parseNumpy("x.npy", bytes);
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

TEST(NumpyFile, isReadInBothOrders) {
  ArrayPointer rows = parseNumpy("x.npy", sixIntegers());
  EXPECT_EQ(rows->shape().text(), "2x3");
  EXPECT_EQ(rows->elementType(), ElementType::I16);
  EXPECT_EQ(rows->cellsAs<int16_t>()[4], 5);
  ArrayPointer columns = parseNumpy("x.npy", sixIntegers("True"));
  std::vector<int16_t> cells(columns->cellsAs<int16_t>(), columns->cellsAs<int16_t>() + 6);
  EXPECT_EQ(cells, (std::vector<int16_t>{1, 3, 5, 2, 4, 6}));
}

TEST(NumpyFile, isWrittenAsItIsRead) {
  std::string bytes = sixIntegers();
  EXPECT_EQ(formatNumpy(parseNumpy("x.npy", bytes)), bytes);
  for (Shape shape : {Shape(), Shape{7}, Shape{0, 3}, Shape{2, 1, 2}}) {
    ArrayPointer array = Array::create(shape, ElementType::F32);
    std::fill_n(array->mutableCellsAs<float>(), array->cells(), 0.5F);
    ArrayPointer again = parseNumpy("x.npy", formatNumpy(array));
    EXPECT_EQ(again->shape(), shape);
    for (int64_t i = 0; i < array->cells(); ++i)
      EXPECT_EQ(again->floats()[i], 0.5F);
  }
}

TEST(NumpyFile, takesAllBytesButZeroForTrue) {
  std::string bytes = formatNumpy(Array::create({1, 3}, ElementType::Bool));
  for (const char *order : {"False", "True "}) { // of C, of Fortran
    std::string file = bytes;
    file.replace(file.find("False"), 5, order);
    file.replace(file.size() - 3, 3, std::string("\x01\x00\x4e", 3));
    ArrayPointer array = parseNumpy("x.npy", file);
    std::vector<bool> cells(array->cellsAs<bool>(), array->cellsAs<bool>() + 3);
    EXPECT_EQ(cells, (std::vector<bool>{true, false, true}));
    unsigned char last = 0;
    std::memcpy(&last, array->cellsAs<bool>() + 2, 1);
    EXPECT_EQ(last, 1);
  }
}

TEST(NumpyFile, saysWhatIsWrong) {
  std::string bytes = sixIntegers();
  EXPECT_EQ(messageOf("PK"), "can't read 'x.npy': it doesn't begin as files of NumPy do");
  EXPECT_EQ(messageOf(bytes.substr(0, 50)), "can't read 'x.npy': it ends within its header");
  EXPECT_EQ(messageOf(bytes.substr(0, bytes.size() - 1)),
            "can't read 'x.npy': it has 5 cells, not 2x3");
  std::string other = bytes;
  other.replace(other.find("<i2"), 3, ">i2");
  EXPECT_EQ(messageOf(other), "can't read 'x.npy': cells of type '>i2' are not supported");
  other = bytes;
  other.replace(other.find("(2, 3)"), 6, "(9999999999999999999,)");
  EXPECT_EQ(messageOf(other), "can't read 'x.npy': the shape is no list of sizes");
}

} // namespace
