// Runs a function in a child process, which this process reads from through a pipe: code that damaged
// data can crash, or that might never end, takes only the child with it.
//
//   ChildProcess child(10, [&](int pipe) { return write(pipe, "7", 1) == 1; });
//   char digit;
//   if (!child.read(&digit, 1) || !child.succeeded())
//     throw Error("the child failed");
#ifndef TOKAMAK_RUNTIME_IO_CHILDPROCESS_H
#define TOKAMAK_RUNTIME_IO_CHILDPROCESS_H

#include <cstddef>
#include <functional>
#include <sys/types.h>

namespace tokamak::runtime {

class ChildProcess {
public:
  // Begins `body(pipe)` in a copy of this process with this thread alone. The body must take no lock
  // that another thread might hold and must not throw; the child ends when it returns. The system
  // ends a child that takes more than so many seconds of processor time. Throws Error if the system
  // refuses a process.
  ChildProcess(int64_t seconds, const std::function<bool(int pipe)> &body);
  // Ends the child if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  // Reads so many bytes; false if the child ended before. Throws Error if the user stops the program.
  bool read(void *bytes, size_t count);
  // Waits for the end: whether the body returned true. Throws Error if the user stops the program.
  bool succeeded();

  // For the body: writes all bytes; false if nobody reads them.
  static bool writeAll(int pipe, const void *bytes, size_t count);
  // For the body: grants so many more seconds of processor time.
  static void allowSeconds(int64_t seconds);

private:
  pid_t child_ = -1;
  int pipe_ = -1;
};

} // namespace tokamak::runtime
#endif
