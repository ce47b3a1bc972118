// Files as the runtime uses them: read at once, written whole or not at all.
//
//   FileContents file("x.csv");          // mapped; a folder of part files is read one part after
//   the other parse(file.text());
//
//   FileWriter writer("y.csv");          // makes the folder if need be, and a temporary file in it
//   writer.write("1.0,2.0\n");
//   writer.commit();                     // renames it; without this nothing remains
#ifndef TOKAMAK_RUNTIME_FILEACCESS_H
#define TOKAMAK_RUNTIME_FILEACCESS_H

#include <cstdio>
#include <string>
#include <string_view>

namespace tokamak::runtime {

class FileContents {
public:
  // Throws Error naming the path where it cannot be read.
  explicit FileContents(const std::string &path);
  ~FileContents();
  FileContents(const FileContents &) = delete;
  FileContents &operator=(const FileContents &) = delete;
  std::string_view text() const { return text_; }

private:
  void map(const std::string &path);
  void joinParts(const std::string &folder);
  std::string_view text_;
  std::string owned_;
  void *mapping_ = nullptr;
};

class FileWriter {
public:
  explicit FileWriter(std::string path);
  ~FileWriter(); // removes the temporary file unless committed
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;
  void write(std::string_view text);
  // Everything is on the file: closes it. commit() does so too; several files are closed before the
  // first is renamed.
  void close();
  void commit();

private:
  [[noreturn]] void fail() const;
  std::string path_, temporary_;
  std::FILE *file_ = nullptr;
  bool committed_ = false;
};

} // namespace tokamak::runtime
#endif
