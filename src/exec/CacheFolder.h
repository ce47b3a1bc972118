// Records that outlive the process: what one run has compiled, the next one finds. A folder of one
// file for each record, which any number of processes may use at the same time.
//
//   CacheFolder cache("/home/me/.cache/tokamak/compiled");
//   cache.keep("a key of any length", "bytes");
//   std::optional<std::string> bytes = cache.find("a key of any length");
//
// A record is found by its whole key, not only by a hash of it. Files are replaced by renaming and
// have a check sum, so that a reader sees whole records or none: what is truncated or damaged counts
// as missing. No function fails: a cache that can't be read or written is empty. Records hold machine
// code, therefore a folder is used only if it belongs to the user and nobody else may write to it.
#ifndef TOKAMAK_EXEC_CACHEFOLDER_H
#define TOKAMAK_EXEC_CACHEFOLDER_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tokamak::exec {

class CacheFolder {
public:
  static constexpr int64_t defaultCapacity = int64_t{256} << 20;

  // Creates the folder if necessary. `capacity` in bytes of files; now and then, when a record is
  // kept, those that were not used for the longest time are removed until less than it is taken.
  explicit CacheFolder(std::string folder, int64_t capacity = defaultCapacity);

  // Thread-safe.
  std::optional<std::string> find(std::string_view key) const;
  void keep(std::string_view key, std::string_view bytes) const;
  // Removes records as described above; `keep` calls it for one of some dozens of records.
  void shrink() const;

  bool isUsable() const { return isUsable_; }

private:
  std::string pathOf(std::string_view key) const;

  std::string folder_;
  int64_t capacity_;
  bool isUsable_ = false;
};

// The user's folder for what Tokamak compiles: in $XDG_CACHE_HOME, else in $HOME/.cache. Empty if
// there is neither.
std::string userCacheFolder();

// Identifies this build of the compiler and the processor that it compiles for: the beginning of every
// key of what depends on them. Empty if the build has no identification; then nothing may be kept.
const std::string &compilerVersion();

} // namespace tokamak::exec
#endif
