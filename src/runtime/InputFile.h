// The bytes of a file that is read: mapped where it is an ordinary file; otherwise (pipes, devices,
// /proc) read to its end into memory that counts against the budget.
//
//   InputFile file("x.csv");
//   parse(file.bytes());
//   file.checkWhole();
#ifndef TOKAMAK_RUNTIME_INPUTFILE_H
#define TOKAMAK_RUNTIME_INPUTFILE_H

#include "runtime/BufferPool.h"

#include <string>
#include <string_view>

namespace tokamak::runtime {

struct FileMapping;

class InputFile {
public:
  // Throws Error naming the path and why it cannot be read.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  std::string_view bytes() const { return bytes_; }
  // Where a mapped file becomes shorter or the disk fails while bytes are read, zeros are read
  // instead. Throws Error if that has happened: whoever has parsed the bytes asks, and asks before
  // it says what is wrong with them.
  void checkWhole() const;

private:
  bool map(int file, size_t size); // false where the system refuses
  void readToEnd(int file);

  std::string path_;
  std::string_view bytes_;
  FileMapping *mapping_ = nullptr;
  std::shared_ptr<Buffer> buffer_; // of what cannot be mapped
};

} // namespace tokamak::runtime
#endif
