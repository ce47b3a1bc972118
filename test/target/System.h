// What Replay.cpp needs of an operating system, Linux on x86-64 or AArch64, without a C library.
// Includes its own start of the program, which calls `run`.
//
//   File file = map("launches");
//   Line() << file.bytes << " bytes";
#ifndef TOKAMAK_TEST_TARGET_SYSTEM_H
#define TOKAMAK_TEST_TARGET_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

int run(int count, char **arguments); // the program's main function

#if defined(__aarch64__)
enum SystemCall { Write = 64, OpenAt = 56, Seek = 62, Map = 222, Clock = 113, Exit = 94 };
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
}
asm(".globl _start\n_start: mov x0, sp\n  bl start\n");
#elif defined(__x86_64__)
enum SystemCall { Write = 1, OpenAt = 257, Seek = 8, Map = 9, Clock = 228, Exit = 231 };
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return number;
}
asm(".globl _start\n_start: mov %rsp, %rdi\n  call start\n");
#endif

[[noreturn]] inline void leave(int status) {
  for (;;)
    call(Exit, status);
}

// `stack` holds the number of arguments, then the arguments.
extern "C" [[noreturn]] inline __attribute__((used)) void start(long *stack) {
  leave(run(static_cast<int>(*stack), reinterpret_cast<char **>(stack + 1)));
}

// Compilers call these by themselves.
extern "C" inline __attribute__((used)) void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
  return to;
}
extern "C" inline __attribute__((used)) void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = static_cast<char>(value);
  return to;
}

struct Hexadecimal {
  uint64_t value;
};

// A line of text, written when its life ends.
class Line {
public:
  ~Line() {
    *this << "\n";
    call(Write, 1, reinterpret_cast<long>(text_), size_);
  }
  Line &operator<<(const char *text) {
    while (*text && size_ < static_cast<long>(sizeof(text_)))
      text_[size_++] = *text++;
    return *this;
  }
  Line &operator<<(int64_t value) { return number(value, 10); }
  Line &operator<<(Hexadecimal value) { return number(value.value, 16); }

private:
  Line &number(uint64_t value, unsigned base) {
    char digits[24];
    char *first = digits + sizeof(digits);
    *--first = 0;
    do
      *--first = "0123456789abcdef"[value % base];
    while (value /= base);
    return *this << first;
  }
  char text_[1000];
  long size_ = 0;
};

[[noreturn]] inline void stop(const char *why) {
  {
    Line() << "replay: " << why;
  }
  leave(1);
}

// Zeroed memory that costs nothing until it is touched.
inline char *reserve(int64_t bytes) {
  long readWrite = 3, privateAnonymousUnreserved = 0x4022;
  long address = call(Map, 0, bytes, readWrite, privateAnonymousUnreserved, -1, 0);
  if (address < 0)
    stop("no memory");
  return reinterpret_cast<char *>(address);
}

struct File {
  const char *data;
  int64_t bytes;
};
inline File map(const char *path) {
  constexpr long currentFolder = -100, end = 2, readOnly = 1, isPrivate = 2;
  long file = call(OpenAt, currentFolder, reinterpret_cast<long>(path), 0);
  long bytes = file < 0 ? -1 : call(Seek, file, 0, end);
  if (bytes <= 0)
    stop("the file of launches can't be read or is empty");
  long address = call(Map, 0, bytes, readOnly, isPrivate, file, 0);
  if (address < 0)
    stop("no memory");
  return {reinterpret_cast<const char *>(address), bytes};
}

inline int64_t now() {
  int64_t time[2];
  call(Clock, /*monotonic*/ 1, reinterpret_cast<long>(time));
  return time[0] * 1000000000 + time[1];
}

#endif
