#include "frontend/onnx/file/NodeOrder.h"

#include <gtest/gtest.h>

using namespace tokamak::onnx;

using Numbers = std::vector<size_t>;

TEST(OnnxNodeOrder, keepsTheOrderOfTheFileWhereItCan) {
  EXPECT_EQ(NodeOrder(0, {}).nodes(), Numbers{});
  EXPECT_EQ(NodeOrder(3, {}).nodes(), (Numbers{0, 1, 2}));
  EXPECT_EQ(NodeOrder(4, {{3, 0}, {3, 0}, {1, 3}}).nodes(), (Numbers{1, 2, 3, 0}));
}

TEST(OnnxNodeOrder, findsCycles) {
  NodeOrder order(5, {{0, 1}, {1, 2}, {4, 3}, {3, 4}, {2, 3}});
  EXPECT_EQ(order.nodes(), (Numbers{0, 1, 2}));
  EXPECT_EQ(order.cycle(), (Numbers{3, 4}));
  EXPECT_EQ(NodeOrder(2, {{1, 1}}).cycle(), Numbers{1});
}
