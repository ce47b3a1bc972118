// Fuzzes the reader of the format mm.
#include "ReaderFuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return tokamak::fuzzing::fuzzReader("mm", data, size);
}
