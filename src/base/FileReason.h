// Why a file can't be read or written, in words for the user.
//
//   throw Error(fmt::format("can't read '{}': {}", path, unreadableReason(path, errno)));
//   // can't read 'data/x.cvs': no such file; did you mean 'data/x.csv'?
#ifndef TOKAMAK_BASE_FILEREASON_H
#define TOKAMAK_BASE_FILEREASON_H

#include <string>

namespace tokamak {

/// The words for an error number of the system: "permission denied", "it is a folder".
std::string fileReason(int error);

/// The same for a file that should have been read. Where there is no such file, a file of a similar
/// name is suggested, or the folder that is missing is named.
std::string unreadableReason(const std::string &path, int error);

} // namespace tokamak
#endif
