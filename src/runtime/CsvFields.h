// The fields of one csv line.
//
//   CsvFields fields(file, columns);
//   if (!fields.parseRow(line, row))
//     throw Error(path + fields.complaint(line));   // "column 7: 'abc' is not a number"
#ifndef TOKAMAK_RUNTIME_CSVFIELDS_H
#define TOKAMAK_RUNTIME_CSVFIELDS_H

#include "runtime/MatrixReader.h"
#include "runtime/NumberReader.h"

namespace tokamak::runtime {

// Throws Error where a separator could be the beginning of a number, or part of the lines.
void checkCsvSeparator(std::string_view operation, std::string_view separator);

class CsvFields {
public:
  // Throws Error where the separator can be none. `file` must outlive this.
  CsvFields(const MatrixFile &file, int64_t columns);

  // Writes a value for each column to `row`; false where the line is wrong.
  bool parseRow(std::string_view line, double *row) const;
  // What is wrong with a line that parseRow refused: "has 3 fields, expected 2", or
  // ", column 2: ..." with the column counted from 1.
  std::string complaint(std::string_view line) const;

  // Number of fields of a line.
  static int64_t count(std::string_view line, std::string_view separator);
  // Whether a quote is open at the end of the line, so that the next line belongs to it.
  static bool endsInQuote(std::string_view line, std::string_view separator);

private:
  bool isSeparator(const char *position, const char *end) const {
    if (position >= end || *position != firstOfSeparator_)
      return false;
    return separator_.size() == 1 || std::string_view(position, end).starts_with(separator_);
  }
  bool convert(std::string_view field, double &value) const;
  std::string fieldComplaint(std::string_view field) const;

  const MatrixFile &file_;
  int64_t columns_;
  std::string_view separator_;
  char firstOfSeparator_;
  bool mayReadNumbersAhead_; // no text that means NaN looks like a number
};

} // namespace tokamak::runtime
#endif
