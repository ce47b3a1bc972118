// The bytes of an input file: regular files are mapped; others (pipes, devices, /proc) are read to
// their end into memory that is charged to the budget.
//
//   InputFile file("x.csv");
//   parse(file.bytes());
//   file.checkWhole();
#ifndef TOKAMAK_RUNTIME_IO_INPUTFILE_H
#define TOKAMAK_RUNTIME_IO_INPUTFILE_H

#include "runtime/memory/BufferPool.h"

#include <string>
#include <string_view>

namespace tokamak::runtime {

struct FileMapping;

class InputFile {
public:
  // Throws Error with the path and the reason if the file can't be read.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  std::string_view bytes() const { return bytes_; }
  // Throws Error if bytes of the mapped file were lost while it was read (the file was
  // truncated, or the disk failed); they read as zeros. Call it after parsing, before
  // reporting errors in the text.
  void checkWhole() const;

private:
  bool map(int file, size_t size); // false if the system refuses
  void readToEnd(int file);

  std::string path_;
  std::string_view bytes_;
  FileMapping *mapping_ = nullptr;
  std::shared_ptr<Buffer> buffer_; // the bytes of a file that can't be mapped
};

} // namespace tokamak::runtime
#endif
