// Parses the fields of csv lines.
//
//   CsvFields fields(file, columns);
//   PlainNumberRange range(text);                 // of the text that has the line
//   if (!fields.parseRow(line, range, row))
//     throw Error(path + fields.complaint(line));   // "column 7: 'abc' is not a number"
#ifndef TOKAMAK_RUNTIME_IO_CSVFIELDS_H
#define TOKAMAK_RUNTIME_IO_CSVFIELDS_H

#include "runtime/io/MatrixReader.h"
#include "runtime/io/PlainNumber.h"

namespace tokamak::runtime {

// Throws Error if the separator is empty, contains a line end, or could begin or continue a number.
void checkCsvSeparator(std::string_view operation, std::string_view separator);

inline std::string_view csvSeparator(const MatrixFile &file) {
  return file.separator ? std::string_view(*file.separator) : ",";
}

class CsvFields {
public:
  // Throws Error if the file's separator is invalid. `file` must outlive this object.
  CsvFields(const MatrixFile &file, int64_t columns);

  // Writes a value for each column to `row`; false if the line is invalid.
  // The line is in the middle of a text with the range.
  bool parseRow(std::string_view line, const PlainNumberRange &range, double *row) const;
  // Describes the error in a line for which parseRow returned false: " has 3 fields, expected 2",
  // or ", column 2: ..." with columns counted from 1.
  std::string complaint(std::string_view line) const;

  // Number of fields of a line.
  static int64_t count(std::string_view line, std::string_view separator);
  // Whether a quote is open at the end of the line, so that the field continues on the next line.
  static bool endsInQuote(std::string_view line, std::string_view separator);

private:
  bool isSeparator(const char *position, const char *end) const {
    if (position >= end || *position != firstOfSeparator_)
      return false;
    return separator_.size() == 1 || std::string_view(position, end).starts_with(separator_);
  }
  // Reads the field that begins at `position`, which is moved behind it; false if it is invalid.
  bool parseField(const char *&position, const char *end, double &value) const;
  bool convert(std::string_view field, double &value) const;
  std::string fieldComplaint(std::string_view field) const;

  const MatrixFile &file_;
  int64_t columns_;
  std::string_view separator_;
  char firstOfSeparator_;
  bool mayReadNumbersAhead_; // no NA string begins like a number
};

} // namespace tokamak::runtime
#endif
