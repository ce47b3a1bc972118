// Replaces a data file and its .mtd file together, although two files can't be renamed in one
// atomic step. A writer stores the new metadata next to the data under a hidden name that contains
// the inode and modification time of the new data file; renaming the data changes neither. So the
// moment the new data are renamed to their path, the new metadata take effect: a reader looks for
// pending metadata that match the data it finds. Renaming the metadata to .mtd is mere clean-up.
//
//   struct stat data;                  // of the new data, still under a temporary name
//   pendingMetadataPath("out/x.csv", data)           // "out/.tokamak-1a2b-17f3c2d4e5.mtd"
//   if (std::optional<std::string> text = pendingMetadata("out/x.csv"))   // of the current data
//     ...
#ifndef TOKAMAK_BASE_PENDINGMETADATA_H
#define TOKAMAK_BASE_PENDINGMETADATA_H

#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace tokamak {

// The prefix of all temporary names that writers use. Readers of folders skip hidden files.
constexpr std::string_view temporaryPrefix = ".tokamak-";

/// The path of the pending metadata for `path`, given the stat() result of its data file.
std::string pendingMetadataPath(const std::string &path, const struct stat &data);

/// The text of the pending metadata of the data at `path`; empty if the data shall have no
/// metadata. Nullopt if none are pending: then the .mtd file counts.
std::optional<std::string> pendingMetadata(const std::string &path);

} // namespace tokamak
#endif
