#include "base/RunInputs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace tokamak;

TEST(RunInputs, areNotedOnceInOrder) {
  noteInputText("a.dml", "x = 1");
  noteInputFile("a.csv");
  noteInputText("a.dml", "something else");
  noteInputText("large", std::string(largestInputText + 3, 'x'));
  std::vector<const RunInput *> inputs;
  for (const RunInput *input = firstRunInput(); input; input = input->next.load())
    inputs.push_back(input);
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_STREQ(inputs[0]->name, "a.dml");
  EXPECT_STREQ(inputs[0]->text, "x = 1");
  EXPECT_EQ(inputs[0]->textSize, 5u);
  EXPECT_STREQ(inputs[1]->name, "a.csv");
  EXPECT_EQ(inputs[1]->text, nullptr);
  EXPECT_EQ(inputs[2]->textSize, largestInputText + 3);
  EXPECT_EQ(std::string_view(inputs[2]->text).size(), largestInputText);
}
