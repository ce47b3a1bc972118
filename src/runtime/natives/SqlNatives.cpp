// The native sql: the rows that a query of a database gives, as a frame. Databases are SQLite's files, which are only read.
#include "base/Interrupt.h"
#include "runtime/io/SqliteLibrary.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/Frame.h"

#include <filesystem>
#include <limits>

namespace tokamak::runtime {
namespace {

// The path in "jdbc:sqlite:PATH", which may have settings behind "?".
std::string databasePath(const std::string &connection) {
  constexpr std::string_view scheme = "jdbc:sqlite:";
  if (!connection.starts_with(scheme))
    throw Error(fmt::format("sql: \"{}\" is no database that can be read: expected "
                            "\"jdbc:sqlite:PATH\", a file of SQLite",
                            connection));
  std::string path = connection.substr(scheme.size());
  if (path.starts_with("file:"))
    path.erase(0, std::string_view("file:").size());
  return path.substr(0, path.find('?'));
}

using Cells = BudgetedVector<Value>;

Value cellAt(const SqliteLibrary &sqlite, SqliteLibrary::Statement *row, int column,
             int64_t number) {
  switch (sqlite.column_type(row, column)) {
  case SqliteLibrary::integer:
    return sqlite.column_int64(row, column);
  case SqliteLibrary::real:
    return sqlite.column_double(row, column);
  case SqliteLibrary::text: {
    const char *text = sqlite.column_text(row, column);
    return std::string(text, static_cast<size_t>(sqlite.column_bytes(row, column)));
  }
  case SqliteLibrary::null:
    return {};
  }
  throw Error(fmt::format("sql: column {} has bytes (a blob) in row {}: select numbers or texts",
                          sqlite.column_name(row, column), number));
}

// Integers where all cells are, doubles where all are numbers, NaN where one is missing; else texts.
ColumnPointer columnOf(const Cells &cells) {
  auto count = [&](bool (Value::*is)() const) {
    return std::ranges::count_if(cells, [&](const Value &cell) { return (cell.*is)(); });
  };
  int64_t missing = count(&Value::isNothing), integers = count(&Value::isInteger),
          numbers = integers + count(&Value::isDouble), all = std::ssize(cells);
  FrameType type = integers == all && all > 0                ? FrameType::Integer
                   : numbers > 0 && numbers + missing == all ? FrameType::Double
                                                             : FrameType::String;
  auto column = std::make_shared<FrameColumn>(type, all);
  for (int64_t i = 0; i < all; ++i)
    column->set(i, cells[i]);
  return column;
}

// An open database, and the statement that it runs.
class Database {
public:
  explicit Database(const std::string &path) : path_(path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw Error(fmt::format("sql: there is no file {}", path));
    if (sqlite_.open_v2(path.c_str(), &database_, SqliteLibrary::openReadOnly, nullptr) !=
        SqliteLibrary::done) {
      std::string reason = database_ ? sqlite_.errmsg(database_) : "out of memory";
      sqlite_.close(database_);
      throw Error(fmt::format("sql: {}: {}", path_, reason));
    }
    constexpr int stepsBetweenChecks = 100'000;
    sqlite_.progress_handler(
        database_, stepsBetweenChecks, [](void *) { return isInterruptRequested() ? 1 : 0; },
        nullptr);
  }
  ~Database() {
    sqlite_.finalize(statement_);
    sqlite_.close(database_);
  }
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  // To be called once.
  Value rowsOf(const std::string &query) {
    prepare(query);
    int count = sqlite_.column_count(statement_);
    std::vector<Cells> cells(static_cast<size_t>(count));
    std::vector<std::string> names;
    for (int j = 0; j < count; ++j)
      names.emplace_back(sqlite_.column_name(statement_, j));
    int state = SqliteLibrary::row;
    int64_t rows = 0;
    while ((state = sqlite_.step(statement_)) == SqliteLibrary::row) {
      checkInterrupt();
      ++rows;
      for (int j = 0; j < count; ++j)
        cells[j].push_back(cellAt(sqlite_, statement_, j, rows));
    }
    if (state != SqliteLibrary::noMoreRows)
      fail();
    std::vector<ColumnPointer> columns;
    for (Cells &own : cells)
      columns.push_back(columnOf(std::exchange(own, {})));
    return Value(std::make_shared<const Frame>(rows, std::move(columns), std::move(names)));
  }

private:
  void prepare(const std::string &query) {
    const char *rest = nullptr;
    if (sqlite_.prepare_v2(database_, query.c_str(), -1, &statement_, &rest) != SqliteLibrary::done)
      fail();
    if (!statement_ || sqlite_.column_count(statement_) == 0)
      throw Error("sql: the query gives no columns: expected a SELECT");
    constexpr std::string_view ignoredBehind = " \t\r\n;";
    if (std::string_view(rest).find_first_not_of(ignoredBehind) != std::string_view::npos)
      throw Error(fmt::format("sql: expected one statement, and \"{}\" follows it", rest));
  }
  [[noreturn]] void fail() {
    checkInterrupt();
    throw Error(fmt::format("sql: {}: {}", path_, sqlite_.errmsg(database_)));
  }

  const SqliteLibrary &sqlite_ = SqliteLibrary::instance();
  std::string path_;
  SqliteLibrary::Database *database_ = nullptr;
  SqliteLibrary::Statement *statement_ = nullptr;
};

} // namespace

// sql(conn, user, password, query): SQLite has no users.
void runSql(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  Database database(databasePath(textOperand(operands[0], "sql", "conn")));
  results[0] = database.rowsOf(textOperand(operands[3], "sql", "query"));
}

} // namespace tokamak::runtime
