// What earlier runs have compiled, in a folder of the user: records that this build of Tokamak wrote on
// this processor. KernelFiles.h and PlanFiles.h say what the records are.
//
//   CompiledFiles files(userCacheFolder());
//   files.keep("kernel", "a key of any length", "bytes");
//   std::optional<std::string> bytes = files.find("kernel", "a key of any length");
//
// Thread-safe; no function fails (CacheFolder.h).
#ifndef TOKAMAK_EXEC_COMPILEDFILES_H
#define TOKAMAK_EXEC_COMPILEDFILES_H

#include "exec/CacheFolder.h"

#include <mutex>

namespace tokamak::exec {

class CompiledFiles {
public:
  // An empty folder: nothing is kept. Nothing is opened before the first record.
  explicit CompiledFiles(std::string folder) : path_(std::move(folder)) {}

  bool areKept() const { return !path_.empty(); }
  // `kind` keeps equal keys of different things apart.
  std::optional<std::string> find(std::string_view kind, std::string_view key);
  void keep(std::string_view kind, std::string_view key, std::string_view bytes);

private:
  const CacheFolder &folder();

  std::string path_;
  std::once_flag opened_;
  std::optional<CacheFolder> folder_;
};

} // namespace tokamak::exec
#endif
