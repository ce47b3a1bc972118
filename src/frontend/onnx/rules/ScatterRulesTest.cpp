#include "frontend/onnx/testing/ModelImport.h"

using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

class ScatterRulesTest : public ModelImport {};

// How many places a tuple has decides the rank of the result; sizes of inputs decide it here.
TEST_F(ScatterRulesTest, asksForInputsThatDecideHowManyPlacesATupleHas) {
  Message gather =
      graph({.nodes = {node({"Neg", {"i"}, {"n"}}), node({"GatherND", {"x", "n"}, {"y"}})},
             .inputs = {valueInfo("x", DataType::Float, {2, 3}),
                        valueInfo("i", DataType::Int64, {4, -1})},
             .outputs = {valueInfo("y")}});
  EXPECT_FALSE(import(gather));
  EXPECT_EQ(problems_.front(), "model.onnx: node 1 (GatherND, opset 17): GatherND by an unknown "
                               "number of places is not supported yet");
  EXPECT_TRUE(known_.wantedSizes.contains("i"));
}

} // namespace
