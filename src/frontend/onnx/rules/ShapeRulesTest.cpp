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

} // namespace
