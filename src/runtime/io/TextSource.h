// The text of a data file, or of the concatenated part files of a folder, plain or in the gzip
// format, cut into pieces of whole lines that can be parsed in parallel. The cuts depend on the
// text and the sizes alone. Readers of formats that are no text take the bytes of whole files.
//
//   TextSource source("x.csv");
//   std::string_view header;
//   source.takeLine(header);
//   for (std::vector<TextPiece> pieces = source.nextPieces(context, BlankEnd::Drop);
//        !pieces.empty(); pieces = source.nextPieces(context, BlankEnd::Drop))
//     ...
#ifndef TOKAMAK_RUNTIME_IO_TEXTSOURCE_H
#define TOKAMAK_RUNTIME_IO_TEXTSOURCE_H

#include "runtime/io/Gzip.h"
#include "runtime/io/InputFile.h"
#include "runtime/natives/NativeOperands.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

// Whole lines of one file; the last one may lack its line end.
struct TextPiece {
  std::string_view text;
  size_t part = 0;       // the file, see TextSource::pathOf
  int64_t firstLine = 0; // number of the first line in the file, from 0
  int64_t lines = 0;
};

// The treatment of blank lines at the end of a file.
enum class BlankEnd : uint8_t { Keep, Drop };

struct TextSizes {
  size_t piece = size_t{1} << 20;  // bytes of a piece, plus less than a line
  size_t window = size_t{1} << 26; // bytes of decompressed text in memory, or one line if longer
};

class TextSource {
public:
  // Throws Error if the path can't be read, or is a folder without part files.
  explicit TextSource(const std::string &path, TextSizes sizes = {});
  // The source is a text in memory, plain or gzip, which must outlive it.
  TextSource(std::string name, std::string_view bytes, TextSizes sizes);
  TextSource(const TextSource &) = delete;
  TextSource &operator=(const TextSource &) = delete;

  // The next line without its line end, valid until the next call; false at the end.
  bool takeLine(std::string_view &line);
  // Pieces with the next lines, in order; empty at the end. They are valid until the next call.
  // Plain files are returned in one call, decompressed text window by window. Throws Error on
  // damaged gzip data.
  std::vector<TextPiece> nextPieces(ExecutionContext &context, BlankEnd blankEnd);
  // The rest of the text, valid as long as the source; a line end is added between parts if
  // missing. Throws Error on damaged gzip data.
  std::string_view takeRest();
  const std::string &pathOf(size_t part) const { return parts_[part].path; }
  size_t parts() const { return parts_.size(); }
  // All bytes of a part, decompressed if they are in the gzip format; valid as long as the source.
  // Not for sources whose text has been taken. Throws Error on damaged gzip data.
  std::string_view bytesOf(size_t part);
  // Whether these bytes are those of the regular file at pathOf(part).
  bool isPlainFile(size_t part) const;

  // Returns body(), which parses the text. If a file lost bytes meanwhile, throws that Error
  // instead of the result or error of the body.
  template <typename Body> auto parse(const Body &body) const {
    try {
      auto result = body();
      checkWhole();
      return result;
    } catch (const Error &) {
      checkWhole();
      throw;
    }
  }

private:
  struct Part {
    std::string path;
    std::unique_ptr<InputFile> file;
    std::string_view bytes;
    std::shared_ptr<Buffer> inflated =
        nullptr; // what `bytes` lie in once bytesOf was called on gzip data
  };
  // Text of a part that has not been handed out yet.
  struct Run {
    std::string_view text;
    size_t part = 0;
    int64_t firstLine = 0;
    bool endsPart = false;
  };
  // Growing text in a buffer of the pool, from its beginning.
  struct Text {
    std::shared_ptr<Buffer> buffer;
    size_t size = 0, capacity = 0;
    char *bytes() const { return reinterpret_cast<char *>(buffer->bytes()); }
    std::string_view text() const {
      return buffer ? std::string_view(bytes(), size) : std::string_view();
    }
    void reserve(size_t capacity);
    void append(std::string_view text);
    void dropFirst(size_t count);
  };
  void addPart(const std::string &path);
  void checkWhole() const;
  bool load();
  void loadWindow();

  std::vector<Part> parts_;
  TextSizes sizes_;
  size_t nextPart_ = 0;
  std::vector<Run> runs_;
  std::unique_ptr<GzipInflater> inflater_; // of part nextPart_, while it is being read
  Text window_, rest_;
  bool isBeginOfPart_ = false; // a byte order mark may follow
  size_t handedOut_ = 0;       // bytes of the window handed out so far
  int64_t linesHandedOut_ = 0;
};

// Calls body(piece, i) for each piece, in parallel. If several calls throw Error, throws that of
// the first piece.
template <typename Body>
void forEachPiece(ExecutionContext &context, std::span<const TextPiece> pieces, const Body &body) {
  std::vector<std::optional<Error>> errors(pieces.size());
  forEachRange(context, static_cast<int64_t>(pieces.size()), 1, [&](int64_t i, int64_t) {
    try {
      body(pieces[i], static_cast<size_t>(i));
    } catch (const Error &error) {
      errors[i] = error;
    }
  });
  for (const std::optional<Error> &error : errors)
    if (error)
      throw *error;
}

// Whether the text at the path begins with `prefix`; false if it can't be
// read, or only once (a pipe).
bool beginsWith(const std::string &path, std::string_view prefix);

// A field for a message: quoted, shortened, and with control characters escaped.
std::string quotedField(std::string_view field);

} // namespace tokamak::runtime
#endif
