// Fuzzes the reader of the format text.
#include "ReaderFuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return tokamak::fuzzing::fuzzReader("text", data, size);
}
