// libhdf5, opened when a program first reads or writes the format hdf5: few programs do, and loading it
// takes longer than a small program. Its headers are not needed: these are the functions that are used,
// as releases 1.10 to 1.14 have them. Names without "H5" are the library's.
//
//   const Hdf5Library &library = Hdf5Library::instance();     // Error if it can't be opened
//   auto file = library.Fopen("x.h5", Hdf5Library::readOnly, Hdf5Library::defaults);
#ifndef TOKAMAK_RUNTIME_IO_HDF5LIBRARY_H
#define TOKAMAK_RUNTIME_IO_HDF5LIBRARY_H

#include <cstddef>
#include <cstdint>

namespace tokamak::runtime {

struct Hdf5Library {
  using Id = int64_t;    // negative: the call failed
  using Status = int;    // negative: the call failed
  using Size = uint64_t; // a number of cells

  static constexpr Id defaults = 0;
  static constexpr unsigned readOnly = 0, truncate = 2;
  static constexpr int integerClass = 0, floatClass = 1; // of Tget_class
  static constexpr int selectSet = 0;                    // of Sselect_hyperslab
  static constexpr int byName = 0, increasing = 0;       // of Lget_name_by_idx
  static constexpr int datasetType = 5;                  // of Iget_type

  Status (*open)() = nullptr;
  Status (*Eset_auto2)(Id stack, void *function, void *data) = nullptr;
  Id (*Fopen)(const char *name, unsigned flags, Id access) = nullptr;
  Id (*Fcreate)(const char *name, unsigned flags, Id creation, Id access) = nullptr;
  Status (*Fclose)(Id file) = nullptr;
  Id (*Pcreate)(Id propertyClass) = nullptr;
  Status (*Pset_fapl_core)(Id access, size_t growth, unsigned char isStored) = nullptr;
  Status (*Pset_file_image)(Id access, void *bytes, size_t count) = nullptr; // copies the bytes
  int64_t (*Lget_name_by_idx)(Id place, const char *group, int index, int order, Size n, char *name,
                              size_t size, Id access) = nullptr;
  Id (*Oopen)(Id place, const char *name, Id access) = nullptr;
  Status (*Oclose)(Id object) = nullptr;
  int (*Iget_type)(Id object) = nullptr;
  Id (*Dopen2)(Id place, const char *name, Id access) = nullptr;
  Id (*Dcreate2)(Id place, const char *name, Id type, Id space, Id linkCreation, Id creation,
                 Id access) = nullptr;
  Id (*Dget_space)(Id dataset) = nullptr;
  Id (*Dget_type)(Id dataset) = nullptr;
  Id (*Dget_create_plist)(Id dataset) = nullptr;
  Status (*Dread)(Id dataset, Id memoryType, Id memorySpace, Id fileSpace, Id transfer,
                  void *cells) = nullptr;
  Status (*Dwrite)(Id dataset, Id memoryType, Id memorySpace, Id fileSpace, Id transfer,
                   const void *cells) = nullptr;
  int (*Pget_chunk)(Id properties, int rank, Size *sizes) = nullptr;
  int (*Sget_simple_extent_ndims)(Id space) = nullptr;
  int64_t (*Sget_simple_extent_npoints)(Id space) = nullptr;
  int (*Sget_simple_extent_dims)(Id space, Size *sizes, Size *largest) = nullptr;
  Id (*Screate_simple)(int rank, const Size *sizes, const Size *largest) = nullptr;
  Status (*Sselect_hyperslab)(Id space, int operation, const Size *start, const Size *stride,
                              const Size *count, const Size *block) = nullptr;
  int (*Tget_class)(Id type) = nullptr;
  Id nativeDouble = -1; // a double in memory and in files written here
  Id fileAccess = -1;   // the class of the properties of an open file

  // Throws Error if the library can't be opened or lacks a function.
  static const Hdf5Library &instance();
};

} // namespace tokamak::runtime
#endif
