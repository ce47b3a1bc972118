// libsqlite3, opened when a program first calls `sql`: few programs do. Its headers are not needed: these are the functions
// that are used, whose names are the library's without "sqlite3_".
//
//   const SqliteLibrary &library = SqliteLibrary::instance();     // Error if it can't be opened
//   SqliteLibrary::Database *database = nullptr;
//   library.open_v2("x.db", &database, SqliteLibrary::openReadOnly, nullptr);
#ifndef TOKAMAK_RUNTIME_IO_SQLITELIBRARY_H
#define TOKAMAK_RUNTIME_IO_SQLITELIBRARY_H

#include <cstdint>

namespace tokamak::runtime {

struct SqliteLibrary {
  struct Database; // sqlite3 and sqlite3_stmt
  struct Statement;

  static constexpr int openReadOnly = 1;                                    // of open_v2
  static constexpr int done = 0, row = 100, noMoreRows = 101;               // results of calls
  static constexpr int integer = 1, real = 2, text = 3, blob = 4, null = 5; // of column_type

  int (*open_v2)(const char *path, Database **database, int flags, const char *system) = nullptr;
  int (*close)(Database *database) = nullptr;
  const char *(*errmsg)(Database *database) = nullptr;
  // Calls `isStopped` after each `steps` steps of a query, which fails where that isn't 0.
  void (*progress_handler)(Database *database, int steps, int (*isStopped)(void *),
                           void *data) = nullptr;
  // `bytes`: those of the query, with the 0 behind it. `rest`: what follows the first statement.
  int (*prepare_v2)(Database *database, const char *query, int bytes, Statement **statement,
                    const char **rest) = nullptr;
  int (*step)(Statement *statement) = nullptr;
  int (*finalize)(Statement *statement) = nullptr;
  int (*column_count)(Statement *statement) = nullptr;
  const char *(*column_name)(Statement *statement, int column) = nullptr;
  int (*column_type)(Statement *statement, int column) = nullptr;
  int64_t (*column_int64)(Statement *statement, int column) = nullptr;
  double (*column_double)(Statement *statement, int column) = nullptr;
  const char *(*column_text)(Statement *statement, int column) = nullptr;
  int (*column_bytes)(Statement *statement, int column) = nullptr; // of column_text

  // Throws Error if the library can't be opened or lacks a function.
  static const SqliteLibrary &instance();
};

} // namespace tokamak::runtime
#endif
