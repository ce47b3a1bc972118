// Compresses and decompresses text in the gzip format; a file has one or more members.
//
//   if (isGzip(bytes)) {
//     GzipInflater inflater("x.csv.gz", bytes);
//     while (size_t size = inflater.read(buffer, sizeof buffer))
//       text.append(buffer, size);               // less than capacity: the end
//   }
//   file.write(gzipMember("1,2\n") + gzipMember("3,4\n"));
#ifndef TOKAMAK_RUNTIME_IO_GZIP_H
#define TOKAMAK_RUNTIME_IO_GZIP_H

#include <memory>
#include <string>
#include <string_view>

namespace tokamak::runtime {

inline bool isGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

class GzipInflater {
public:
  // `bytes` must outlive the inflater; `name` is the file's name in error messages.
  GzipInflater(std::string name, std::string_view bytes);
  ~GzipInflater();
  GzipInflater(const GzipInflater &) = delete;
  GzipInflater &operator=(const GzipInflater &) = delete;
  // Writes the next bytes of the text to `buffer` and returns their number. Throws Error if the
  // data are damaged or truncated.
  size_t read(char *buffer, size_t capacity);

private:
  struct Stream;
  bool atEnd() const;
  std::string name_;
  std::string_view rest_;
  bool insideMember_ = true;
  std::unique_ptr<Stream> stream_;
};

// The text as one gzip member. Concatenated members are the concatenated texts.
std::string gzipMember(std::string_view text);

} // namespace tokamak::runtime
#endif
