#include "frontend/dml/Source.h"

#include "base/FileReason.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace tokamak::frontend {

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)) {
  lineStarts_.push_back(0);
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    lineStarts_.push_back(static_cast<uint32_t>(at + 1));
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  auto next = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  auto line = static_cast<uint32_t>(next - lineStarts_.begin());
  return {line, offset - lineStarts_[line - 1] + 1};
}

FileId SourceManager::add(std::string path, std::string text) {
  files_.emplace_back(std::move(path), std::move(text));
  return fileCount() - 1;
}

std::optional<FileId> SourceManager::load(const std::string &path, std::string &error) {
  if (llvm::sys::fs::is_directory(path)) {
    error = unreadableReason(path, EISDIR);
    return std::nullopt;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error = unreadableReason(path, buffer.getError().value());
    return std::nullopt;
  }
  if ((*buffer)->getBufferSize() >= std::numeric_limits<uint32_t>::max()) {
    error = "is larger than 4 GiB";
    return std::nullopt;
  }
  return add(path, (*buffer)->getBuffer().str());
}

} // namespace tokamak::frontend
