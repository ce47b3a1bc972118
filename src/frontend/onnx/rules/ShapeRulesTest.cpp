// What is written of operators that move cells; that results are right is shown by `./dev test onnx`.
#include "frontend/onnx/testing/ModelImport.h"

using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

using ShapeRulesTest = ModelImport;

TEST_F(ShapeRulesTest, onlyDimensionsThatAreCutAreSliced) {
  auto sliced = [&](const std::vector<int64_t> &starts, const std::vector<int64_t> &ends) {
    auto numbers = [](const std::string &name, const std::vector<int64_t> &cells) {
      return rawTensor<int64_t>(name, DataType::Int64, {static_cast<int64_t>(cells.size())}, cells);
    };
    std::vector<float> cells(6);
    EXPECT_TRUE(
        import(graph({.nodes = {node({"MatMul", {"x", "w"}, {"y"}}),
                                node({"Slice", {"y", "starts", "ends"}, {"r"}})},
                      .initializers = {numbers("starts", starts), numbers("ends", ends),
                                       rawTensor<float>("w", DataType::Float, {2, 3}, cells)},
                      .inputs = {valueInfo("x", DataType::Float, {-1, 2})},
                      .outputs = {valueInfo("r")}})));
    return count("strided_slice");
  };
  constexpr int64_t far = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(sliced({0, 0}, {far, 3}), 0);
  EXPECT_EQ(sliced({0, 0}, {far, 2}), 1);
  EXPECT_EQ(sliced({0, 1}, {far, far}), 1);
  EXPECT_EQ(sliced({0, 0}, {1000, far}), 1); // as many rows as the input has
  EXPECT_EQ(sliced({-1, 0}, {far, 4}), 1);
}

// As exporters write them that hold shapes in int32: what is read of an array is not known before it is there.
TEST_F(ShapeRulesTest, sizesStayKnownInShortIntegers) {
  auto numbers = [](const std::string &name, const std::vector<int64_t> &cells) {
    return rawTensor<int64_t>(name, DataType::Int64, {static_cast<int64_t>(cells.size())}, cells);
  };
  auto readsShape = [&](int64_t other) {
    EXPECT_TRUE(import(graph(
        {.nodes = {node({"Shape", {"x"}, {"s"}}),
                   node({"Cast", {"s"}, {"short"}, {intAttribute("to", 6)}}),
                   node({"Slice", {"short", "zero", "one"}, {"rows"}}),
                   node({"Cast", {"other"}, {"columns"}, {intAttribute("to", 6)}}),
                   node({"Concat", {"rows", "columns"}, {"c"}, {intAttribute("axis", 0)}}),
                   node({"Cast", {"c"}, {"shape"}, {intAttribute("to", 7)}}),
                   node({"Reshape", {"x", "shape"}, {"r"}})},
         .initializers = {numbers("zero", {0}), numbers("one", {1}), numbers("other", {other})},
         .inputs = {valueInfo("x", DataType::Float, {-1, 2, 3})},
         .outputs = {valueInfo("r")}})));
    return count("strided_slice") > 0;
  };
  EXPECT_FALSE(readsShape(6));
  EXPECT_TRUE(readsShape((int64_t{1} << 32) + 6)); // the cast keeps the lower half
}

} // namespace
