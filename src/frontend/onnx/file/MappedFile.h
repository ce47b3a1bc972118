// A regular file whose bytes are mapped into memory, read-only: pages are read when they are first
// looked at, and nothing is copied.
//
//   MappedFile file("model.onnx");
//   Source source = {"model.onnx", file.bytes()};
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_MAPPEDFILE_H
#define TOKAMAK_FRONTEND_ONNX_FILE_MAPPEDFILE_H

#include <string>
#include <string_view>

namespace tokamak::onnx {

class MappedFile {
public:
  // Throws Error with the path and the reason if there is no such file, or it is no regular one
  // (reading a pipe or a device could take for ever).
  explicit MappedFile(const std::string &path);
  // The same for a file that is open already, which is left open.
  MappedFile(int descriptor, const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  // They stay where they are when the object is moved.
  std::string_view bytes() const { return bytes_; }

private:
  void map(int descriptor, const std::string &path);

  std::string_view bytes_;
};

} // namespace tokamak::onnx
#endif
