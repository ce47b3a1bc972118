// A scope in which ThreadSanitizer ignores memory accesses; does nothing in builds without it.
//
//   UncheckedByThreadSanitizer section;  // until the end of the scope
//   passes.run(module);
//
// There are two uses. Calls into LLVM and MLIR, which are not instrumented: ThreadSanitizer sees
// their calls of memcpy and free, but not the locks under which they initialise data that all
// threads read afterwards, and would report such reads as races. And copies of arrays of which
// other threads write some cells during the copy, where nobody reads those cells of the copy.
#ifndef TOKAMAK_BASE_UNCHECKEDBYTHREADSANITIZER_H
#define TOKAMAK_BASE_UNCHECKEDBYTHREADSANITIZER_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TOKAMAK_THREAD_SANITIZER 1
// Defined in the sanitizer's runtime library.
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
