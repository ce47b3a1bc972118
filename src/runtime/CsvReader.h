// Reads the text of a csv file in parallel: the text is cut at line ends into fixed pieces, whose
// rows are counted, then parsed into their places.
#ifndef TOKAMAK_RUNTIME_CSVREADER_H
#define TOKAMAK_RUNTIME_CSVREADER_H

#include "runtime/MatrixReader.h"

#include <string_view>

namespace tokamak::runtime {

ArrayPointer readCsv(const MatrixFile &file, std::string_view text, ExecutionContext &context);

} // namespace tokamak::runtime
#endif
