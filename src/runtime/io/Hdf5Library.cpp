#include "runtime/io/Hdf5Library.h"

#include "base/Error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>

namespace tokamak::runtime {
namespace {

[[noreturn]] void failMissing(const std::string &reason) {
  throw Error(fmt::format("the format hdf5 needs the library libhdf5: {} (Debian's package is "
                          "libhdf5-103-1)",
                          reason));
}

template <typename Symbol> Symbol find(void *handle, const char *name) {
  void *symbol = dlsym(handle, name);
  if (!symbol)
    failMissing(fmt::format("it has no {}", name));
  return reinterpret_cast<Symbol>(symbol);
}

Hdf5Library openLibrary() {
  // The library would refuse to write a file that this process has locked, as FileWriter does. It reads
  // this when it starts.
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  void *handle = nullptr;
  // Debian's name, then those of others.
  for (const char *name : {"libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5.so.200",
                           "libhdf5.so.310", "libhdf5.so"})
    if ((handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)))
      break;
  if (!handle)
    failMissing("it was not found");
  Hdf5Library library;
  auto bind = [&](const char *name, auto &function) {
    function = find<std::decay_t<decltype(function)>>(handle, name);
  };
  bind("H5open", library.open);
  bind("H5Eset_auto2", library.Eset_auto2);
  bind("H5Fopen", library.Fopen);
  bind("H5Fcreate", library.Fcreate);
  bind("H5Fclose", library.Fclose);
  bind("H5Pcreate", library.Pcreate);
  bind("H5Pset_fapl_core", library.Pset_fapl_core);
  bind("H5Pset_file_image", library.Pset_file_image);
  bind("H5Lget_name_by_idx", library.Lget_name_by_idx);
  bind("H5Oopen", library.Oopen);
  bind("H5Oclose", library.Oclose);
  bind("H5Iget_type", library.Iget_type);
  bind("H5Dopen2", library.Dopen2);
  bind("H5Dcreate2", library.Dcreate2);
  bind("H5Dget_space", library.Dget_space);
  bind("H5Dget_type", library.Dget_type);
  bind("H5Dget_create_plist", library.Dget_create_plist);
  bind("H5Dread", library.Dread);
  bind("H5Dwrite", library.Dwrite);
  bind("H5Pget_chunk", library.Pget_chunk);
  bind("H5Sget_simple_extent_ndims", library.Sget_simple_extent_ndims);
  bind("H5Sget_simple_extent_npoints", library.Sget_simple_extent_npoints);
  bind("H5Sget_simple_extent_dims", library.Sget_simple_extent_dims);
  bind("H5Screate_simple", library.Screate_simple);
  bind("H5Sselect_hyperslab", library.Sselect_hyperslab);
  bind("H5Tget_class", library.Tget_class);
  if (library.open() < 0)
    failMissing("it does not start");
  library.Eset_auto2(Hdf5Library::defaults, nullptr, nullptr); // it would print what went wrong
  library.nativeDouble = *find<const Hdf5Library::Id *>(handle, "H5T_NATIVE_DOUBLE_g");
  library.fileAccess = *find<const Hdf5Library::Id *>(handle, "H5P_CLS_FILE_ACCESS_ID_g");
  return library;
}

} // namespace

const Hdf5Library &Hdf5Library::instance() {
  static const Hdf5Library library = openLibrary();
  return library;
}

} // namespace tokamak::runtime
