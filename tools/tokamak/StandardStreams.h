// What is printed must arrive: output that is lost makes the run fail.
//
//   openStandardStreams();
//   std::cout << "text\n";
//   flushOutput();                       // throws Error where the text could not be written
#ifndef TOKAMAK_TOOLS_STANDARDSTREAMS_H
#define TOKAMAK_TOOLS_STANDARDSTREAMS_H

namespace tokamak {

// Before any file is opened: of a standard stream that is closed, the next file would take the
// number, and what is printed would go into that file. Also makes a limit on file sizes an error of
// the write that passes it, instead of a signal that ends the process.
void openStandardStreams();

void flushOutput();

} // namespace tokamak
#endif
