#include "aot/ExpectedShapes.h"

#include "base/Error.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::aot;

static std::string errorOf(const std::string &text) {
  try {
    std::vector<std::string> texts = {text};
    ExpectedShapes(texts).of("X", 2);
    return "no error";
  } catch (const Error &error) {
    return error.message();
  }
}

TEST(ExpectedShapes, knowsNumbersRangesAndNames) {
  std::vector<std::string> texts = {"X=Nx100", "y=Nx1", "Z=?x1..64", "k=5"};
  ExpectedShapes shapes(texts);
  std::vector<Size> x = shapes.of("X", 2), y = shapes.of("y", 2), z = shapes.of("Z", 2);
  EXPECT_TRUE(x[0].isSymbol());
  EXPECT_TRUE(x[1].isConstant(100));
  EXPECT_TRUE(y[0] == x[0]);
  EXPECT_FALSE(z[0] == x[0]);
  EXPECT_EQ(z[1].range(), (Size::Range{1, 64}));
  EXPECT_EQ(z[1].estimate(-1), 8);
  EXPECT_TRUE(shapes.of("k", 0).front().isConstant(5));
}

TEST(ExpectedShapes, takesWhatIsNotGivenForAnySize) {
  ExpectedShapes shapes({});
  std::vector<Size> sizes = shapes.of("X", 2), others = shapes.of("Y", 2);
  EXPECT_EQ(sizes[0].range(), Size::ofArrays);
  EXPECT_FALSE(sizes[0] == sizes[1]);
  EXPECT_FALSE(sizes[0] == others[0]);
}

TEST(ExpectedShapes, showsWhatIsWrong) {
  EXPECT_EQ(errorOf("X"), "--shape X: expected NAME=SIZES, such as X=?x100\n    X\n     ^");
  EXPECT_EQ(errorOf("X=?x-3"),
            "--shape X=?x-3: expected a size: a number, ? for any, LOW..HIGH, or a name (without "
            "an x) that "
            "stands for the same size wherever it is written; got '-3'\n    X=?x-3\n        ^");
  EXPECT_NE(errorOf("X=?x"), "no error");
  EXPECT_NE(errorOf("X=5..2x1"), "no error");
  EXPECT_NE(errorOf("X=99999999999999999999x1"), "no error");
  EXPECT_EQ(errorOf("X=?x3x4"),
            "--shape X=?x3x4: 'X' has 2 sizes, such as X=?x100\n    X=?x3x4\n      ^");
}

TEST(ExpectedShapes, suggestsNearNames) {
  std::vector<std::string> texts = {"weight=?x1"}, names = {"X", "weights"};
  ExpectedShapes shapes(texts);
  try {
    shapes.checkNames(names);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.message(),
              "--shape weight=?x1: no parameter 'weight'; did you mean 'weights'?\n"
              "    weight=?x1\n    ^");
  }
}

TEST(ExpectedShapes, areThoseThatAFileDeclaresUnlessTheyAreGiven) {
  using Declared = ExpectedShapes::Declared;
  const std::vector<Declared> image = {{-1, "N"}, {3}, {}}, other = {{-1, "N"}};
  std::vector<std::string> texts = {"given=5x3x7"};
  ExpectedShapes shapes(texts);
  std::vector<Size> found = shapes.of("image", image);
  EXPECT_TRUE(found[0].isSymbol());
  EXPECT_TRUE(found[1].isConstant(3));
  EXPECT_NE(found[0], found[2]);
  EXPECT_EQ(shapes.of("other", other).front(), found[0]);
  std::vector<Size> given = shapes.of("given", image);
  EXPECT_TRUE(given[0].isConstant(5));
  EXPECT_TRUE(given[2].isConstant(7));
  EXPECT_TRUE(shapes.of("number", std::vector<Declared>()).empty());
}

TEST(ExpectedShapes, agreeWithWhatAFileDeclares) {
  const std::vector<ExpectedShapes::Declared> image = {{}, {3}};
  for (const char *text : {"image=?x4", "image=?", "image=?x3x3"}) {
    std::vector<std::string> texts = {text};
    ExpectedShapes shapes(texts);
    try {
      shapes.of("image", image);
      FAIL() << text;
    } catch (const Error &error) {
      EXPECT_NE(error.message().find("'image' has 2 sizes: image=?x3"), std::string::npos);
    }
  }
}
