#include "base/FileFormats.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tokamak;

TEST(FileFormats, NamesMayBeInCapitals) {
  EXPECT_EQ(formatNamed("CSV"), "csv");
  EXPECT_EQ(formatNamed("mm"), "mm");
}

TEST(FileFormats, SaysWhatIsSupported) {
  EXPECT_TRUE(isSupportedFormat("mm", FormatUse::Matrix));
  EXPECT_FALSE(isSupportedFormat("mm", FormatUse::Frame));
  EXPECT_FALSE(isSupportedFormat("cog", FormatUse::Matrix));
  EXPECT_TRUE(std::ranges::count(knownFormats(), "cog"));
  EXPECT_FALSE(isSupportedFormat("cvs", FormatUse::Matrix));
  EXPECT_FALSE(std::ranges::count(knownFormats(), "cvs"));
}

TEST(FileFormats, ListsWhatIsSupported) {
  std::string frames = supportedFormats(FormatUse::Frame);
  EXPECT_TRUE(frames.starts_with("csv"));
  EXPECT_EQ(frames.find("mm"), std::string::npos);
  EXPECT_EQ(unsupportedFormat("write", "mm", FormatUse::Frame),
            "write: the format \"mm\" of frames is not supported yet: expected " + frames);
  EXPECT_EQ(unsupportedFormat("read", "cog", FormatUse::Matrix),
            "read: the format \"cog\" is not supported yet: expected " +
                supportedFormats(FormatUse::Matrix));
}
