// What earlier runs have compiled, in a folder of the user: records that this build of Tokamak wrote on
// this processor. KernelFiles.h and PlanFiles.h say what the records are.
//
//   CompiledFiles files(userCacheFolder());
//   files.keep("kernel", "a key of any length", "bytes");
//   std::optional<std::string> bytes = files.find("kernel", "a key of any length");
//
// What a program used is also kept in one piece, its collection, because opening a file takes longer than
// most records take to read:
//
//   files.openCollection("the program's key");                      // before it runs
//   files.keepCollection("the program's key");                      // after that
//
// Thread-safe; no function fails (CacheFolder.h).
#ifndef TOKAMAK_EXEC_COMPILEDFILES_H
#define TOKAMAK_EXEC_COMPILEDFILES_H

#include "exec/CacheFolder.h"

#include <deque>
#include <mutex>
#include <unordered_map>

namespace tokamak::exec {

class CompiledFiles {
public:
  // An empty folder: nothing is kept. Nothing is opened before the first record.
  explicit CompiledFiles(std::string folder) : path_(std::move(folder)) {}

  bool areKept() const { return !path_.empty(); }
  // `kind` keeps equal keys of different things apart.
  std::optional<std::string> find(std::string_view kind, std::string_view key);
  void keep(std::string_view kind, std::string_view key, std::string_view bytes);
  // Afterwards, `find` knows all that the collection has without opening files, and notes what is used.
  void openCollection(std::string_view key);
  // Replaces the collection by what was found or kept since then, if it lacked any of that.
  void keepCollection(std::string_view key);

private:
  const CacheFolder &folder();
  void note(std::string_view key, std::string_view bytes);

  // More than this is not worth a copy.
  static constexpr size_t mostCollected = size_t{8} << 20;

  std::string path_;
  std::once_flag opened_;
  std::optional<CacheFolder> folder_;
  std::mutex mutex_; // guards all below
  struct Record {
    std::string_view bytes;
    bool isUsed;
  };
  bool isCollecting_ = false,
       hasNew_ = false;             // new: used, but not in the collection that was opened
  std::string collected_;           // keys and bytes of the collection,
  std::deque<std::string> further_; // and of other records
  std::unordered_map<std::string_view, Record> collection_;
};

} // namespace tokamak::exec
#endif
