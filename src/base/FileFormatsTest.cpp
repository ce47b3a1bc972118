#include "base/FileFormats.h"

#include <gtest/gtest.h>

using namespace tokamak;

TEST(FileFormats, NamesMayBeInCapitals) {
  EXPECT_EQ(formatNamed("CSV"), "csv");
  EXPECT_EQ(formatNamed("mm"), "mm");
}

TEST(FileFormats, SaysWhatIsSupported) {
  EXPECT_TRUE(isSupportedFormat("mm", FormatUse::Matrix));
  EXPECT_FALSE(isSupportedFormat("mm", FormatUse::Frame));
  EXPECT_FALSE(isSupportedFormat("hdf5", FormatUse::Matrix));
  EXPECT_EQ(unsupportedFormat("write", "mm", FormatUse::Frame),
            "write: the format \"mm\" of frames is not supported yet: expected csv or text");
}
