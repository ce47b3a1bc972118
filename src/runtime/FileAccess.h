// Files as the runtime uses them: mapped to be read, written whole or not at all.
//
//   MappedFile file("x.csv");
//   parse(file.bytes());
//
//   FileWriter writer("y.csv");          // makes the folder if need be; the file has no name yet
//   writer.write("1.0,2.0\n");
//   writer.commit();                     // gives it its name; without this nothing remains
#ifndef TOKAMAK_RUNTIME_FILEACCESS_H
#define TOKAMAK_RUNTIME_FILEACCESS_H

#include <string>
#include <string_view>

namespace tokamak::runtime {

class MappedFile {
public:
  // Throws Error naming the path where it cannot be read.
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  std::string_view bytes() const { return bytes_; }

private:
  std::string_view bytes_;
};

class FileWriter {
public:
  explicit FileWriter(std::string path);
  ~FileWriter(); // leaves nothing behind unless committed
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;
  // By the name: what is written should be in the gzip format (Gzip.h).
  bool isCompressed() const { return path_.ends_with(".gz"); }
  void write(std::string_view bytes);
  // Everything is on the file and it has a temporary name: what can fail has been done. commit()
  // does so too; several files are prepared before the first is renamed.
  void prepare();
  // Takes the place of what had the path before.
  void commit();

private:
  [[noreturn]] void fail(int error) const;
  std::string path_, temporary_;
  int file_ = -1;
  bool isNamed_ = false; // temporary_ exists
};

// Puts the folder `temporary` in the place of `path`, which may exist. Throws Error.
void replaceFolder(const std::string &temporary, const std::string &path);

} // namespace tokamak::runtime
#endif
