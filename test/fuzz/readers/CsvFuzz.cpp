// Fuzzes the reader of the format csv.
#include "ReaderFuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return tokamak::fuzzing::fuzzReader("csv", data, size);
}
