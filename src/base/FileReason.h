// Why a file can't be read or written, in words for the user.
//
//   throw Error(fmt::format("can't read '{}': {}", path, unreadableReason(path, errno)));
//   // can't read 'data/x.cvs': no such file; did you mean 'data/x.csv'?
#ifndef TOKAMAK_BASE_FILEREASON_H
#define TOKAMAK_BASE_FILEREASON_H

#include <string>

namespace tokamak {

/// A description of a system error number (errno): "permission denied", "it is a folder".
std::string fileReason(int error);

/// The same for a file that could not be read. If the file is missing, suggests a file with a
/// similar name or names the missing folder.
std::string unreadableReason(const std::string &path, int error);

} // namespace tokamak
#endif
