// A stream whose text goes to a function, at the latest at the end of each line that is flushed.
//
//   OutputStream output([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
//   output << "accuracy " << 0.5 << std::endl;
#ifndef TOKAMAK_API_OUTPUTSTREAM_H
#define TOKAMAK_API_OUTPUTSTREAM_H

#include <functional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace tokamak::api {

class OutputStream : private std::streambuf, public std::ostream {
public:
  // `write` must outlive the stream. An empty one drops everything.
  explicit OutputStream(const std::function<void(std::string_view)> &write)
      : std::ostream(static_cast<std::streambuf *>(this)), write_(write) {}
  ~OutputStream() override { sync(); }
  OutputStream(const OutputStream &) = delete;
  OutputStream &operator=(const OutputStream &) = delete;

private:
  int_type overflow(int_type c) override {
    if (c != traits_type::eof())
      text_ += static_cast<char>(c);
    return passFullOn();
  }
  std::streamsize xsputn(const char *text, std::streamsize size) override {
    text_.append(text, static_cast<size_t>(size));
    passFullOn();
    return size;
  }
  int sync() override {
    if (write_ && !text_.empty())
      write_(text_);
    text_.clear();
    return 0;
  }
  int passFullOn() {
    constexpr size_t full = 4096;
    return text_.size() >= full ? sync() : 0;
  }

  const std::function<void(std::string_view)> &write_;
  std::string text_;
};

} // namespace tokamak::api
#endif
