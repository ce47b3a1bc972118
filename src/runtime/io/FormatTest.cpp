#include "runtime/io/Format.h"
#include "runtime/natives/NativeTesting.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

// The front end believes the table, the runtime the objects.
TEST(Format, theTableSaysWhatTheFormatsHold) {
  const Format *formats[] = {
#define TOKAMAK_FORMAT(Name, ...) &Name##Format,
#include "base/FileFormats.def"
  };
  for (const Format *format : formats) {
    EXPECT_EQ(findFormat(format->name), format);
    EXPECT_EQ(isSupportedFormat(format->name, FormatUse::Matrix), format->readMatrix != nullptr)
        << format->name;
    EXPECT_EQ(isSupportedFormat(format->name, FormatUse::Frame), format->readFrame != nullptr)
        << format->name;
    EXPECT_EQ(format->readMatrix == nullptr, format->writeMatrix == nullptr) << format->name;
    EXPECT_EQ(format->readFrame == nullptr, format->writeFrame == nullptr) << format->name;
  }
  EXPECT_EQ(findFormat("cog"), nullptr);
}

TEST(Format, saysWhichFormatsThereAre) {
  EXPECT_EQ(errorOf([] { failFormat("write", "cog", FormatUse::Frame); }),
            unsupportedFormat("write", "cog", FormatUse::Frame));
  EXPECT_EQ(errorOf([] { failFormat("read", "csb", FormatUse::Matrix); }),
            "read: unknown format \"csb\"; did you mean \"csv\"?");
  EXPECT_EQ(errorOf([] { failFormat("read", "quadratic", FormatUse::Matrix); }),
            "read: unknown format \"quadratic\": expected " + supportedFormats(FormatUse::Matrix));
}
