#include "runtime/io/Hdf5Library.h"

#include "base/OptionalLibrary.h"

#include <cstdlib>

namespace tokamak::runtime {

static Hdf5Library openLibrary() {
  // The library would refuse to write a file that this process has locked, as FileWriter does. It reads
  // this when it starts.
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  // Debian's name, then those of others.
  const OptionalLibrary opened(
      {"libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5.so.200", "libhdf5.so.310", "libhdf5.so"},
      "the format hdf5 needs the library libhdf5", "libhdf5-103-1");
  Hdf5Library library;
  opened.bind("H5open", library.open);
  opened.bind("H5Eset_auto2", library.Eset_auto2);
  opened.bind("H5Fopen", library.Fopen);
  opened.bind("H5Fcreate", library.Fcreate);
  opened.bind("H5Fclose", library.Fclose);
  opened.bind("H5Pcreate", library.Pcreate);
  opened.bind("H5Pset_fapl_core", library.Pset_fapl_core);
  opened.bind("H5Pset_file_image", library.Pset_file_image);
  opened.bind("H5Lget_name_by_idx", library.Lget_name_by_idx);
  opened.bind("H5Oopen", library.Oopen);
  opened.bind("H5Oclose", library.Oclose);
  opened.bind("H5Iget_type", library.Iget_type);
  opened.bind("H5Dopen2", library.Dopen2);
  opened.bind("H5Dcreate2", library.Dcreate2);
  opened.bind("H5Dget_space", library.Dget_space);
  opened.bind("H5Dget_type", library.Dget_type);
  opened.bind("H5Dget_create_plist", library.Dget_create_plist);
  opened.bind("H5Dread", library.Dread);
  opened.bind("H5Dwrite", library.Dwrite);
  opened.bind("H5Pget_chunk", library.Pget_chunk);
  opened.bind("H5Sget_simple_extent_ndims", library.Sget_simple_extent_ndims);
  opened.bind("H5Sget_simple_extent_npoints", library.Sget_simple_extent_npoints);
  opened.bind("H5Sget_simple_extent_dims", library.Sget_simple_extent_dims);
  opened.bind("H5Screate_simple", library.Screate_simple);
  opened.bind("H5Sselect_hyperslab", library.Sselect_hyperslab);
  opened.bind("H5Tget_class", library.Tget_class);
  if (library.open() < 0)
    opened.fail("it does not start");
  library.Eset_auto2(Hdf5Library::defaults, nullptr, nullptr); // it would print what went wrong
  const Hdf5Library::Id *nativeDouble = nullptr, *fileAccess = nullptr;
  opened.bind("H5T_NATIVE_DOUBLE_g", nativeDouble);
  opened.bind("H5P_CLS_FILE_ACCESS_ID_g", fileAccess);
  library.nativeDouble = *nativeDouble;
  library.fileAccess = *fileAccess;
  return library;
}

const Hdf5Library &Hdf5Library::instance() {
  static const Hdf5Library library = openLibrary();
  return library;
}

} // namespace tokamak::runtime
