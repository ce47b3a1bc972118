// New files and folders take the place of a path in one step, alone or together with a .mtd file.
// Until then they have a hidden temporary name beside their place, or none at all: what is killed
// before leaves the old ones untouched.
//
//   FileWriter file("x.csv");
//   file.write("1.0,2.0\n");
//   file.commit("{\"format\": \"csv\"}");   // x.csv and x.csv.mtd; without this nothing remains
#ifndef TOKAMAK_RUNTIME_FILEWRITER_H
#define TOKAMAK_RUNTIME_FILEWRITER_H

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
  // Metadata that are empty stand for no .mtd file: an old one is removed. Whenever the process
  // ends, readers find either both old or both new (PendingMetadata.h). Devices and pipes have no
  // metadata.
  void commit(std::string_view metadata);

protected:
  enum class Kind : uint8_t { File, Folder };

  // Makes the folder around it if need be. A symbolic link stays one: what it points to is
  // replaced. Devices and pipes are not replaced but written to. What is replaced keeps its owner
  // and its permissions. Throws Error where the path can't be written, and where that can't hold.
  Replacement(std::string path, Kind kind);
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail(const std::string &reason) const;

  std::string path_, temporary_; // the latter is empty until it has a name
  int file_ = -1;

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
  std::string target_;    // the path, or what it points to
  bool isStream_ = false; // a device or a pipe
  bool isOld_ = false;    // something is there already: with this owner and these permissions
  uid_t owner_ = 0;
  gid_t group_ = 0;
  mode_t mode_ = 0;
};

class FileWriter : public Replacement {
public:
  explicit FileWriter(std::string path) : Replacement(std::move(path), Kind::File) {}
  void write(std::string_view bytes);
  // By the name: texts are written in the gzip format.
  bool isCompressed() const { return path_.ends_with(".gz"); }
  void writeText(std::string_view text);
};

class FolderWriter : public Replacement {
public:
  explicit FolderWriter(std::string path) : Replacement(std::move(path), Kind::Folder) {}
  // The name that the folder has while it is filled.
  const std::string &path() const { return temporary_; }
};

// Completes what writers in the folder began that were killed, or removes it. A process does so
// where it writes for the first time.
void tidyFolder(const std::string &folder);

} // namespace tokamak::runtime
#endif
