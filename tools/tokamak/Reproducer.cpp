#include "tokamak/Reproducer.h"

#include "base/RunInputs.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace tokamak {
namespace {

// Larger data files are only named, not copied; the total size of copies is limited, too.
constexpr off_t largestCopy = off_t{4} << 20;
constexpr off_t mostCopied = off_t{32} << 20;

// Prepared in advance, because a signal handler can't allocate memory.
struct Prepared {
  std::string head;
  std::string paths[2]; // the second is used if the first can't be created
};
Prepared *prepared = nullptr;

// Writes text to a file descriptor by system calls only.
class Output {
public:
  explicit Output(int file) : file_(file) {}
  Output &operator<<(const char *text) { return write(text, std::strlen(text)); }
  Output &operator<<(uint64_t number) {
    char digits[20];
    char *begin = std::end(digits);
    do
      *--begin = static_cast<char>('0' + number % 10);
    while (number /= 10);
    return write(begin, static_cast<size_t>(std::end(digits) - begin));
  }
  Output &write(const char *text, size_t size) {
    while (size > 0) {
      ssize_t count = ::write(file_, text, size);
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        break; // the disk is full
      text += count;
      size -= static_cast<size_t>(count);
    }
    return *this;
  }

private:
  int file_;
};

void writeText(Output &out, const RunInput &input) {
  size_t there = std::min(input.textSize, largestInputText);
  out << "==== " << input.name << ", " << uint64_t{input.textSize} << " bytes"
      << (there < input.textSize ? ", cut off" : "") << "\n";
  out.write(input.text, there) << "\n";
}

// Writes the contents of a data file, or a description of it.
void writeFile(Output &out, const RunInput &input, off_t &copied) {
  out << "==== " << input.name;
  int file = open(input.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat information{};
  if (file < 0 || fstat(file, &information) != 0) {
    out << ", could not be read again\n";
  } else if (!S_ISREG(information.st_mode)) {
    out << ", not a plain file\n";
  } else {
    out << ", " << static_cast<uint64_t>(information.st_size) << " bytes";
    bool fits = information.st_size <= largestCopy && copied + information.st_size <= mostCopied;
    if (fits) {
      out << "\n";
      char buffer[4096];
      for (ssize_t count; (count = read(file, buffer, sizeof buffer)) > 0; copied += count)
        out.write(buffer, static_cast<size_t>(count));
      out << "\n";
    } else {
      out << ", not copied; it was changed " << static_cast<uint64_t>(information.st_mtime)
          << " seconds after the beginning of 1970\n";
    }
  }
  if (file >= 0)
    close(file);
}

// Quotes a word for the shell.
std::string quoted(const std::string &word) {
  constexpr const char *plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos)
    return word;
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

} // namespace

void prepareReproducer(int argc, char **argv) {
  static Prepared instance;
  std::error_code ignored;
  std::string command;
  for (int i = 0; i < argc; ++i)
    command += (i > 0 ? " " : "") + quoted(argv[i]);
  instance.head = fmt::format(
      "version: {}\ncommand: {}\nfolder: {}\nprocessor: {}\n", TOKAMAK_VERSION, command,
      std::filesystem::current_path(ignored).string(), llvm::sys::getHostCPUName().str());
  std::string name = fmt::format("tokamak-reproducer-{}.txt", getpid());
  const char *temporary = std::getenv("TMPDIR");
  instance.paths[0] = name;
  instance.paths[1] = fmt::format("{}/{}", temporary && *temporary ? temporary : "/tmp", name);
  prepared = &instance;
}

void writeReproducer(const char *failure) {
  Output terminal(STDERR_FILENO);
  terminal << "This is a bug in Tokamak, not in your program. ";
  if (prepared)
    for (const std::string &path : prepared->paths) {
      constexpr mode_t owner = 0600; // data may be private
      int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, owner);
      if (file < 0)
        continue;
      Output out(file);
      out << "internal error: " << failure << "\n" << prepared->head.c_str();
      off_t copied = 0;
      for (const RunInput *input = firstRunInput(); input; input = input->next.load())
        if (input->text)
          writeText(out, *input);
        else
          writeFile(out, *input, copied);
      close(file);
      terminal << path.c_str() << " has what is needed to repeat it; please report it.\n";
      return;
    }
  terminal << "Neither the working directory nor the folder for temporary files takes a file that "
              "says how to repeat it; please report it.\n";
}

} // namespace tokamak
