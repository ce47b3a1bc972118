// Replaces a file or folder by an atomic rename, alone or together with its .mtd file. Until then
// the new one has a hidden temporary name in the same folder, or no name at all: if the process is
// killed before, the old one is untouched.
//
//   FileWriter file("x.csv");
//   file.write("1.0,2.0\n");
//   file.commit("{\"rows\": 1}");       // x.csv and x.csv.mtd; without commit no file remains
#ifndef TOKAMAK_RUNTIME_IO_FILEWRITER_H
#define TOKAMAK_RUNTIME_IO_FILEWRITER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tokamak::runtime {

class Replacement {
public:
  ~Replacement();
  Replacement(const Replacement &) = delete;
  Replacement &operator=(const Replacement &) = delete;

  void commit();
  // Empty metadata: removes an old .mtd file. Whenever the process ends, readers find either both
  // old or both new files (PendingMetadata.h). Devices and pipes have no metadata.
  void commit(std::string_view metadata);

protected:
  enum class Kind : uint8_t { File, Folder };

  // Creates parent folders if necessary. If the path is a symbolic link, its target is replaced.
  // Devices and pipes are not replaced but written to. The new file keeps the owner and permissions
  // of the old one. Throws Error if the path can't be written or these can't be kept.
  Replacement(std::string path, Kind kind);
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail(const std::string &reason) const;
  void nameTemporary();

  std::string path_, temporary_; // temporary_ is empty until the file has a name
  int file_ = -1;
  bool isStream_ = false; // a device or a pipe

private:
  void findTarget();
  void openTemporary();
  void makeFolder();
  void keepOwner() const;
  bool tryName(const std::string &name);
  void sync() const;
  void finish();
  void rename();

  Kind kind_;
  std::string target_; // the path, or the target of a symbolic link
  bool isOld_ = false; // the path exists already, with this owner and mode
  uid_t owner_ = 0;
  gid_t group_ = 0;
  mode_t mode_ = 0;
};

class FileWriter : public Replacement {
public:
  explicit FileWriter(std::string path) : Replacement(std::move(path), Kind::File) {}
  void write(std::string_view bytes);
  // By the name: writeText compresses texts with gzip.
  bool isCompressed() const { return path_.ends_with(".gz"); }
  void writeText(std::string_view text);
  // A device or a pipe: it can only be written from its beginning to its end.
  bool isStream() const { return isStream_; }
  // For libraries that write files by themselves: the name of the file until it is committed. Nothing
  // may be written to it otherwise. Not for streams.
  const std::string &temporaryPath();
  // Throws the Error that this file can't be written.
  [[noreturn]] void failWith(const std::string &reason) const { fail(reason); }
};

class FolderWriter : public Replacement {
public:
  explicit FolderWriter(std::string path) : Replacement(std::move(path), Kind::Folder) {}
  // The temporary name, under which the caller fills the folder.
  const std::string &path() const { return temporary_; }
};

// Completes or removes the temporary files of killed writers in the folder. A process calls it
// before its first write to a folder.
void tidyFolder(const std::string &folder);

} // namespace tokamak::runtime
#endif
