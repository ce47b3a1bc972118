// How the data at a path and its .mtd file change together, although two files can't be renamed in
// one step. A writer puts the new metadata beside the data under a hidden name that says to which
// data they belong: by the data's inode and time of change, which the data keep when they are
// renamed. The moment the new data take their path, the new metadata are in force, too: a reader
// looks for pending metadata of the data that it finds. Renaming them to .mtd only tidies up.
//
//   struct stat data;                                // of the new data under their temporary name
//   pendingMetadataPath("out/x.csv", data)           // "out/.tokamak-1a2b-17f3c2d4e5.mtd"
//   if (std::optional<std::string> text = pendingMetadata("out/x.csv"))   // of what is there now
//     ...
#ifndef TOKAMAK_BASE_PENDINGMETADATA_H
#define TOKAMAK_BASE_PENDINGMETADATA_H

#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace tokamak {

// All names that writers use for a while begin so. Readers of folders pass over hidden names.
constexpr std::string_view temporaryPrefix = ".tokamak-";

/// Where metadata for `path` wait, if `data` is what stands at the path.
std::string pendingMetadataPath(const std::string &path, const struct stat &data);

/// The text of the metadata that wait for the data at `path`, empty where these are to have none;
/// nullopt if none wait, so that the .mtd file counts.
std::optional<std::string> pendingMetadata(const std::string &path);

} // namespace tokamak
#endif
