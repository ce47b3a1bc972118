// Shared by the fuzz targets of the readers. The first line of an input holds options, one letter each;
// the rest is the file, plain or gzip:
//
//   h header, f no fill, n texts that mean NaN, d another default, ; | ~ or t the separator (t:
//   tab), 0-9 the number of rows, A-J the number of columns (A: 0), z the number of values that are
//   not 0, k blocks of two rows and columns, i another separator of indices, x the dataset "x",
//   @ a frame (of formats that hold both), s a schema
//
// A matrix is read in one piece and in small pieces, plain and through gzip; all ways must give the
// same matrix or the same error message. A frame is read plain and through gzip, written and read
// again. Only damaged files of HDF5 may be read otherwise the next time: libhdf5 decides.
#ifndef TOKAMAK_TEST_FUZZ_READERFUZZING_H
#define TOKAMAK_TEST_FUZZ_READERFUZZING_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace tokamak::fuzzing {

// Returns 0, as libFuzzer requires; aborts if two ways of reading differ.
int fuzzReader(const std::string &format, const uint8_t *data, size_t size);

} // namespace tokamak::fuzzing
#endif
