// The text of a data file, or of a folder of part files one after the other, plain or in the gzip
// format, as pieces with whole lines that can be parsed in parallel. Where pieces end depends on
// the text and the sizes alone.
//
//   TextSource source("x.csv");
//   std::string_view header;
//   source.takeLine(header);
//   for (std::vector<TextPiece> pieces = source.nextPieces(context, BlankEnd::Drop);
//        !pieces.empty(); pieces = source.nextPieces(context, BlankEnd::Drop))
//     ...
#ifndef TOKAMAK_RUNTIME_TEXTSOURCE_H
#define TOKAMAK_RUNTIME_TEXTSOURCE_H

#include "runtime/Gzip.h"
#include "runtime/InputFile.h"
#include "runtime/NativeOperands.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

// Whole lines of one file; the last one may lack its end.
struct TextPiece {
  std::string_view text;
  size_t part = 0;       // the file, see TextSource::pathOf
  int64_t firstLine = 0; // of the file, counted from 0
  int64_t lines = 0;
};

// What becomes of blank lines at the end of a file.
enum class BlankEnd : uint8_t { Keep, Drop };

struct TextSizes {
  size_t piece = size_t{1} << 20;  // bytes of a piece, less than a line more
  size_t window = size_t{1} << 26; // bytes of decompressed text held at a time, or one line
};

class TextSource {
public:
  // Throws Error where the path cannot be read, and in a folder without part files.
  explicit TextSource(const std::string &path, TextSizes sizes = {});
  // A text in memory as the only file, plain or gzip; it must outlive the source.
  TextSource(std::string name, std::string_view bytes, TextSizes sizes);
  TextSource(const TextSource &) = delete;
  TextSource &operator=(const TextSource &) = delete;

  // The next line without its end, valid until the next call; false behind the last one.
  bool takeLine(std::string_view &line);
  // Pieces with the next lines, in order; none behind the last line. They are valid until the next
  // call. Plain files come in one go, decompressed text by windows. Throws Error on damaged gzip
  // data.
  std::vector<TextPiece> nextPieces(ExecutionContext &context, BlankEnd blankEnd);
  // All that is left, as long as the source lives; each part ends with a line end where another one
  // follows. Throws Error on damaged gzip data.
  std::string_view takeRest();
  const std::string &pathOf(size_t part) const { return parts_[part].path; }

  // Returns body(), which parses the text. Where a file lost bytes meanwhile, that is the Error,
  // whatever the body made of it.
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
  };
  // Text of a part that was not handed out yet.
  struct Run {
    std::string_view text;
    size_t part = 0;
    int64_t firstLine = 0;
    bool endsPart = false;
  };
  // Text in memory of the pool, at its beginning.
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
  std::unique_ptr<GzipInflater> inflater_; // of part nextPart_, while it is read
  Text window_, rest_;
  bool isBeginOfPart_ = false; // a byte order mark may come
  size_t handedOut_ = 0;       // bytes of the window
  int64_t linesHandedOut_ = 0;
};

// Calls body(piece, i) for each piece, in parallel; it may throw Error. Of several errors that of
// the first piece is thrown.
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

// Whether the text at the path begins with `prefix`; false where it cannot be read, or only once.
bool beginsWith(const std::string &path, std::string_view prefix);

// A field for a message: in quotes, shortened, without what a terminal would obey.
std::string quotedField(std::string_view field);

} // namespace tokamak::runtime
#endif
