#include "runtime/io/Gzip.h"

#include "base/Error.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <new>
#include <zlib.h>

namespace tokamak::runtime {

constexpr int largestWindow = 15, gzipFormat = 16;
// zlib counts the bytes of a call in 32 bits.
constexpr size_t mostAtOnce = std::numeric_limits<uInt>::max();

struct GzipInflater::Stream {
  z_stream state{};
  Stream() {
    if (inflateInit2(&state, largestWindow + gzipFormat) != Z_OK)
      throw std::bad_alloc();
  }
  ~Stream() { inflateEnd(&state); }
};

GzipInflater::GzipInflater(std::string name, std::string_view bytes)
    : name_(std::move(name)), rest_(bytes), stream_(std::make_unique<Stream>()) {}
GzipInflater::~GzipInflater() = default;

// Whether all members have been read; zeros behind the last one are padding.
bool GzipInflater::atEnd() const {
  return !insideMember_ &&
         std::all_of(rest_.begin(), rest_.end(), [](char byte) { return byte == 0; });
}

size_t GzipInflater::read(char *buffer, size_t capacity) {
  z_stream &state = stream_->state;
  size_t count = 0;
  while (count < capacity && !atEnd()) {
    if (!insideMember_) {
      if (!isGzip(rest_))
        throw Error(fmt::format("{}: something else follows the gz data", name_));
      inflateReset(&state);
      insideMember_ = true;
    }
    auto available = static_cast<uInt>(std::min(rest_.size(), mostAtOnce));
    auto space = static_cast<uInt>(std::min(capacity - count, mostAtOnce));
    state.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(rest_.data()));
    state.avail_in = available;
    state.next_out = reinterpret_cast<Bytef *>(buffer + count);
    state.avail_out = space;
    int status = inflate(&state, Z_NO_FLUSH);
    bool isStuck = state.avail_in == available && state.avail_out == space;
    rest_.remove_prefix(available - state.avail_in);
    count += space - state.avail_out;
    if (status == Z_STREAM_END)
      insideMember_ = false;
    else if (status == Z_MEM_ERROR)
      throw std::bad_alloc();
    else if (status != Z_OK && status != Z_BUF_ERROR)
      throw Error(fmt::format("{}: the gz data are damaged: {}", name_,
                              state.msg ? state.msg : "they need a dictionary"));
    else if (isStuck || (rest_.empty() && state.avail_out > 0))
      throw Error(fmt::format("{}: the gz data end early: the file is cut off", name_));
  }
  return count;
}

std::string gzipMember(std::string_view text) {
  z_stream state{};
  constexpr int level = 6, memoryLevel = 8;
  if (deflateInit2(&state, level, Z_DEFLATED, largestWindow + gzipFormat, memoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string member(deflateBound(&state, text.size()), '\0');
  size_t read = 0, written = 0;
  for (int status = Z_OK; status == Z_OK;) {
    size_t given = std::min(text.size() - read, mostAtOnce),
           room = std::min(member.size() - written, mostAtOnce);
    state.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data() + read));
    state.avail_in = static_cast<uInt>(given);
    state.next_out = reinterpret_cast<Bytef *>(member.data() + written);
    state.avail_out = static_cast<uInt>(room);
    status = deflate(&state, read + given == text.size() ? Z_FINISH : Z_NO_FLUSH);
    read += given - state.avail_in;
    written += room - state.avail_out;
    if (status != Z_OK && status != Z_STREAM_END)
      internalError("zlib could not compress a text");
  }
  member.resize(written);
  deflateEnd(&state);
  return member;
}

} // namespace tokamak::runtime
