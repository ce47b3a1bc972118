// Fuzzes the reader of one format, which the build names: a target for each (CMakeLists.txt).
#include "ReaderFuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return tokamak::fuzzing::fuzzReader(TOKAMAK_FUZZED_FORMAT, data, size);
}
