// A section that ThreadSanitizer does not look into.
//
//   UncheckedByThreadSanitizer section;  // until the end of the scope
//   passes.run(module);
//
// For two kinds of code. Calls into LLVM and MLIR, which are not instrumented: of what they do,
// ThreadSanitizer sees the calls of memcpy and free, but not the guards under which they initialise
// what all threads read afterwards, and reports such reads as races. And copies of cells of which
// other threads write some that nobody reads from the copy. Without ThreadSanitizer it does
// nothing.
#ifndef TOKAMAK_BASE_UNCHECKEDBYTHREADSANITIZER_H
#define TOKAMAK_BASE_UNCHECKEDBYTHREADSANITIZER_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TOKAMAK_THREAD_SANITIZER 1
// Of the sanitizer's runtime library.
extern "C" {
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
}
#endif
#endif

namespace tokamak {

class UncheckedByThreadSanitizer {
public:
  UncheckedByThreadSanitizer() {
#ifdef TOKAMAK_THREAD_SANITIZER
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  }
  ~UncheckedByThreadSanitizer() {
#ifdef TOKAMAK_THREAD_SANITIZER
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  UncheckedByThreadSanitizer(const UncheckedByThreadSanitizer &) = delete;
  UncheckedByThreadSanitizer &operator=(const UncheckedByThreadSanitizer &) = delete;
};

} // namespace tokamak
#endif
