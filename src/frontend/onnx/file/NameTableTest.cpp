#include "frontend/onnx/file/NameTable.h"

#include <gtest/gtest.h>

using namespace tokamak::onnx;

TEST(OnnxNameTable, hidesOuterNamesUntilTheInnerGraphEnds) {
  using Kind = Definition::Kind;
  NameTable names;
  names.enterGraph();
  names.define("x", {.kind = Kind::Input});
  names.define("y", {.kind = Kind::Node, .index = 4});
  names.enterGraph();
  EXPECT_EQ(names.find("y")->index, 4);
  names.define("y", {.kind = Kind::Initializer});
  EXPECT_EQ(names.find("y")->kind, Kind::Initializer);
  names.define("y", {.kind = Kind::Input});
  names.define("inner", {.kind = Kind::Input});
  EXPECT_EQ(names.find("y")->kind, Kind::Input);
  EXPECT_EQ(names.find("y")->depth, 2);
  names.leaveGraph();
  EXPECT_EQ(names.find("y")->kind, Kind::Node);
  EXPECT_EQ(names.find("y")->depth, 1);
  EXPECT_EQ(names.find("inner"), nullptr);
}
