// Fuzzes the parser of .mtd files: writing parsed metadata and parsing it again must give the same
// text.
#include "base/Error.h"
#include "base/MatrixMetadata.h"

#include <cstdio>
#include <cstdlib>

using namespace tokamak;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  MatrixMetadata metadata;
  try {
    metadata = parseMetadata(text, "x.mtd");
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal)
      std::abort();
    return 0;
  }
  std::string written = metadataText(metadata, {{"description", text}});
  std::string again = metadataText(parseMetadata(written, "again.mtd"), {{"description", text}});
  if (written == again)
    return 0;
  std::fprintf(stderr, "written: %s\nread and written again: %s\n", written.c_str(), again.c_str());
  std::abort();
}
