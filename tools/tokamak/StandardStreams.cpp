#include "tokamak/StandardStreams.h"

#include "base/Error.h"
#include "base/FileReason.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

void tokamak::openStandardStreams() {
  // open() returns the lowest free descriptor, so this fills the closed standard streams. The
  // access mode is the opposite of the stream's, so that using the stream is still an error.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  std::signal(SIGXFSZ, SIG_IGN);
}

void tokamak::flushOutput() {
  errno = 0;
  std::cout.flush();
  if (!std::cout)
    throw Error(fmt::format("what was printed is lost: standard output can't be written{}",
                            errno != 0 ? ": " + fileReason(errno) : ""));
}
