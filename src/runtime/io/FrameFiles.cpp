#include "runtime/io/FrameFiles.h"

#include "runtime/io/Format.h"

namespace tokamak::runtime {

FramePointer readFrame(const std::string &path, const MatrixMetadata &metadata) {
  if (!metadata.format)
    failWithoutFormat(path);
  const Format *format = findFormat(*metadata.format);
  if (!format || !format->readFrame)
    failFormat("read", *metadata.format, FormatUse::Frame);
  TextSource source(path);
  return source.parse([&] { return format->readFrame(path, metadata, source); });
}

void writeFrame(const Frame &frame, const WriteOptions &options, FileWriter &file) {
  const Format *format = findFormat(options.format);
  if (!format || !format->writeFrame)
    failFormat("write", options.format, FormatUse::Frame);
  format->writeFrame(frame, options, file);
}

void writeFrameRows(const Frame &frame, FileWriter &file, std::string text,
                    const std::function<void(int64_t row, std::string &text)> &appendRow) {
  constexpr size_t pieceBytes = size_t{1} << 20;
  for (int64_t row = 0; row < frame.rows(); ++row) {
    appendRow(row, text);
    if (text.size() >= pieceBytes) {
      file.writeText(text);
      text.clear();
    }
  }
  file.writeText(text);
}

} // namespace tokamak::runtime
