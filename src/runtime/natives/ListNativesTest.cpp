#include "runtime/natives/NativeTesting.h"

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static Value namedList() { return call("list", {"a,b,c", integer(1), 2.5, "text"}); }

TEST(ListNatives, slicesByPositionAndName) {
  Value one = call("list_slice", {namedList(), integer(2), Value()});
  EXPECT_EQ(one.list()->elements.size(), 1u);
  EXPECT_EQ(one.list()->names, std::vector<std::string>{"b"});
  EXPECT_EQ(call("list_slice", {namedList(), "b", "c"}).list()->elements.size(), 2u);
  EXPECT_EQ(call("list_element", {one}).list(), one.list());
  EXPECT_EQ(call("list_element", {call("list", {Value(), one})}).list(), one.list());
  EXPECT_EQ(errorOf("list_slice", {namedList(), integer(4), Value()}),
            "index out of range: element 4 of a list of 3");
  EXPECT_EQ(errorOf("list_slice", {namedList(), "d", Value()}), "the list has no element \"d\"");
}

TEST(ListNatives, replacesElements) {
  Value list = namedList();
  Value changed = call("list_insert", {list, matrix(1, 1, {5}), integer(1), Value()});
  EXPECT_TRUE(changed.list()->elements[0].isArray());
  EXPECT_TRUE(list.list()->elements[0].isInteger());
  Value two = call("list", {Value(), true, false});
  EXPECT_TRUE(
      call("list_insert", {list, two, integer(2), integer(3)}).list()->elements[2].isBoolean());
  EXPECT_EQ(errorOf("list_insert", {list, two, integer(1), integer(3)}),
            "left indexing: 2 values cannot replace 3 elements of a list");
}

TEST(ListNatives, replacesAndRenamesByAListOfOneElement) {
  Value one = call("list", {"f", integer(7)});
  Value changed = call("list_insert", {namedList(), one, integer(2), Value()});
  EXPECT_EQ(changed.list()->names, (std::vector<std::string>{"a", "f", "c"}));
  EXPECT_EQ(changed.list()->elements[1].asInteger(), 7);
  Value plain = call("list", {Value(), true, false});
  EXPECT_TRUE(call("list_insert", {plain, one, integer(1), Value()}).list()->names.empty());
  EXPECT_TRUE(
      call("list_insert", {namedList(), plain, integer(1), Value()}).list()->elements[0].isList());
}

TEST(ListNatives, appendsAListOfSeveralElementsAsOne) {
  Value plain = call("list", {Value(), true, false}), one = call("list", {"f", integer(7)});
  EXPECT_EQ(call("cbind", {plain, plain}).list()->elements.size(), 3u);
  Value named = call("cbind", {namedList(), one});
  EXPECT_EQ(named.list()->names, (std::vector<std::string>{"a", "b", "c", "f"}));
  EXPECT_EQ(named.list()->elements[3].asInteger(), 7);
}

TEST(ListNatives, removesAnElement) {
  std::vector<Value> results = callAll("list_remove", {namedList(), integer(2)}, 2);
  EXPECT_EQ(results[0].list()->names, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(results[1].list()->elements[0].asDouble(), 2.5);
}

TEST(ListNatives, mayBeEmpty) { EXPECT_TRUE(call("list", {Value()}).list()->elements.empty()); }
