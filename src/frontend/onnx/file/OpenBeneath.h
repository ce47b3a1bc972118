// Opens a file beneath a folder and no other, whatever a stranger's file says about where it is.
//
//   int descriptor = openBeneath(folder, "weights/part-0.bin");
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_OPENBENEATH_H
#define TOKAMAK_FRONTEND_ONNX_FILE_OPENBENEATH_H

#include <cstdint>
#include <string>

namespace tokamak::onnx {

// Who walks along the path: the kernel in one call (openat2), or we, a folder at a time, where the
// kernel or a sandbox lacks that call. Both refuse the same.
enum class PathWalk : uint8_t { Kernel, Folders };

// A descriptor for reading the regular file at `location`, relative to the open folder; the caller
// closes it. Throws Error with the reason: the location is empty, absolute or leaves the folder; it
// passes through a symbolic link, or what stands there isn't a regular file of one name only. (A
// second hard link would give a file from elsewhere, which its owner didn't mean to be read, a name
// beneath the folder.)
int openBeneath(int folder, const std::string &location, PathWalk walk = PathWalk::Kernel);

} // namespace tokamak::onnx
#endif
