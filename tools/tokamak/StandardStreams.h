// Checks standard output: lost output makes the run fail.
//
//   openStandardStreams();
//   std::cout << "text\n";
//   flushOutput();                       // throws Error if the text could not be written
#ifndef TOKAMAK_TOOLS_STANDARDSTREAMS_H
#define TOKAMAK_TOOLS_STANDARDSTREAMS_H

namespace tokamak {

// Call this before any file is opened: otherwise the next file would get the descriptor number of a
// closed standard stream, and printed text would go into that file. Also ignores SIGXFSZ, so that a
// write beyond the limit on file sizes is an error instead of ending the process.
void openStandardStreams();

void flushOutput();

} // namespace tokamak
#endif
