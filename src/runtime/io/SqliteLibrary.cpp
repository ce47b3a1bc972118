#include "runtime/io/SqliteLibrary.h"

#include "base/Error.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tokamak::runtime {
namespace {

[[noreturn]] void failMissing(const std::string &reason) {
  throw Error(fmt::format("sql needs the library libsqlite3: {} (Debian's package is libsqlite3-0)",
                          reason));
}

SqliteLibrary openLibrary() {
  void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    failMissing("it was not found");
  SqliteLibrary library;
  auto bind = [&](const char *name, auto &function) {
    void *symbol = dlsym(handle, name);
    if (!symbol)
      failMissing(fmt::format("it has no {}", name));
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  bind("sqlite3_open_v2", library.open_v2);
  bind("sqlite3_close", library.close);
  bind("sqlite3_errmsg", library.errmsg);
  bind("sqlite3_progress_handler", library.progress_handler);
  bind("sqlite3_prepare_v2", library.prepare_v2);
  bind("sqlite3_step", library.step);
  bind("sqlite3_finalize", library.finalize);
  bind("sqlite3_column_count", library.column_count);
  bind("sqlite3_column_name", library.column_name);
  bind("sqlite3_column_type", library.column_type);
  bind("sqlite3_column_int64", library.column_int64);
  bind("sqlite3_column_double", library.column_double);
  bind("sqlite3_column_text", library.column_text);
  bind("sqlite3_column_bytes", library.column_bytes);
  return library;
}

} // namespace

const SqliteLibrary &SqliteLibrary::instance() {
  static const SqliteLibrary library = openLibrary();
  return library;
}

} // namespace tokamak::runtime
