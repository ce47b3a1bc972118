#include "runtime/io/SqliteLibrary.h"

#include "base/OptionalLibrary.h"

namespace tokamak::runtime {

static SqliteLibrary openLibrary() {
  const OptionalLibrary opened({"libsqlite3.so.0"}, "sql needs the library libsqlite3",
                               "libsqlite3-0");
  SqliteLibrary library;
  opened.bind("sqlite3_open_v2", library.open_v2);
  opened.bind("sqlite3_close", library.close);
  opened.bind("sqlite3_errmsg", library.errmsg);
  opened.bind("sqlite3_progress_handler", library.progress_handler);
  opened.bind("sqlite3_prepare_v2", library.prepare_v2);
  opened.bind("sqlite3_step", library.step);
  opened.bind("sqlite3_finalize", library.finalize);
  opened.bind("sqlite3_column_count", library.column_count);
  opened.bind("sqlite3_column_name", library.column_name);
  opened.bind("sqlite3_column_type", library.column_type);
  opened.bind("sqlite3_column_int64", library.column_int64);
  opened.bind("sqlite3_column_double", library.column_double);
  opened.bind("sqlite3_column_text", library.column_text);
  opened.bind("sqlite3_column_bytes", library.column_bytes);
  return library;
}

const SqliteLibrary &SqliteLibrary::instance() {
  static const SqliteLibrary library = openLibrary();
  return library;
}

} // namespace tokamak::runtime
