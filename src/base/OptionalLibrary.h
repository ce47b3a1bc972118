// A shared library of the system that few programs need, opened when one first does. Its headers are not needed: functions are
// declared where they are used.
//
//   OptionalLibrary library({"libsqlite3.so.0"}, "sql needs the library libsqlite3", "libsqlite3-0");
//   const char *(*version)() = nullptr;
//   library.bind("sqlite3_libversion", version);
#ifndef TOKAMAK_BASE_OPTIONALLIBRARY_H
#define TOKAMAK_BASE_OPTIONALLIBRARY_H

#include <initializer_list>
#include <string>

namespace tokamak {

class OptionalLibrary {
public:
  // Opens the first of the files that is there; it stays open. Throws Error if none is: what needs it, and Debian's package.
  OptionalLibrary(std::initializer_list<const char *> files, std::string whatNeedsIt,
                  std::string package);

  // Sets a function, or a pointer to a variable, to the library's of this name. Throws Error if it has none.
  template <typename Symbol> void bind(const char *name, Symbol &symbol) const {
    symbol = reinterpret_cast<Symbol>(find(name));
  }

  // Throws the Error that says that the library can't be used, and why.
  [[noreturn]] void fail(const std::string &reason) const;

private:
  void *find(const char *name) const;

  void *handle_ = nullptr;
  std::string whatNeedsIt_, package_;
};

} // namespace tokamak
#endif
