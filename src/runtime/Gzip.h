// Compressed text in the gzip format, of one member or several in a row.
//
//   if (isGzip(bytes)) {
//     GzipInflater inflater("x.csv.gz", bytes);
//     size_t count = inflater.read(buffer, capacity);   // less than capacity: that was all
//   }
//   file.write(gzipMember("1,2\n") + gzipMember("3,4\n"));
#ifndef TOKAMAK_RUNTIME_GZIP_H
#define TOKAMAK_RUNTIME_GZIP_H

#include <memory>
#include <string>
#include <string_view>

namespace tokamak::runtime {

inline bool isGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

class GzipInflater {
public:
  // `bytes` must outlive the inflater; `name` is what messages call them.
  GzipInflater(std::string name, std::string_view bytes);
  ~GzipInflater();
  GzipInflater(const GzipInflater &) = delete;
  GzipInflater &operator=(const GzipInflater &) = delete;
  // Writes the next bytes of the text to `buffer`. Throws Error where the data are damaged or cut
  // off.
  size_t read(char *buffer, size_t capacity);

private:
  struct Stream;
  bool atEnd() const;
  std::string name_;
  std::string_view rest_;
  bool insideMember_ = true;
  std::unique_ptr<Stream> stream_;
};

// The text as one gzip member. Members one after the other are the texts one after the other.
std::string gzipMember(std::string_view text);

} // namespace tokamak::runtime
#endif
