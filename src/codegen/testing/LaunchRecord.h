// A launch of a kernel as a file keeps it: what the kernel gets, in which order its tiles run and
// merge, and every bit of the results. Written by KernelCorpus, on any machine, and read by
// test/target/Replay.cpp, which is compiled for the target and has no C library; therefore plain
// structs of 64-bit integers and places in the file instead of pointers. As text:
//
//   file = record record ...             each padded to 64 bytes
//   record = LaunchRecord
//            ArrayRecord for each input and each output
//            PartialRecord for each result that is aggregated over tiles
//            StepRecord for each step
//            data, at places that the structs above name
//
// In C++:
//
//   auto *record = reinterpret_cast<const LaunchRecord *>(file);
//   auto *scalars = reinterpret_cast<const double *>(file + record->scalars);
#ifndef TOKAMAK_CODEGEN_TESTING_LAUNCHRECORD_H
#define TOKAMAK_CODEGEN_TESTING_LAUNCHRECORD_H

#include "abi/Kernel.h"

namespace tokamak::codegen {

// Places are bytes from the beginning of the record; 0 stands for a null pointer.
using FilePlace = int64_t;

struct LaunchRecord {
  int64_t bytes;  // of the whole record
  int64_t kernel; // its number in kernels.def
  FilePlace test; // the name of the test that launched it, ending with a 0
  int64_t inputs, outputs, partials, steps;
  FilePlace scalars; // doubles
  FilePlace sizes;   // 64-bit integers
  int64_t scratchDoubles;
  int64_t slots; // each holds the partial results of a tile
};

// Of outputs the data is what the kernel has to write.
struct ArrayRecord {
  int64_t elementType, layout, rows, columns;
  FilePlace data;
  int64_t bytes; // of the data
  FilePlace rowOffsets, columnIndices;
};

struct PartialRecord {
  int64_t doubles; // with padding
  int64_t isInteger;
  FilePlace expected; // what slot 0 has to hold after the last step
};

// Runs the kernel on `tile` with the partial results in slot `into`, or, if `from` is not negative,
// merges slot `from` into slot `into`.
struct StepRecord {
  TokTile tile;
  int64_t into, from;
};

} // namespace tokamak::codegen
#endif
