// Writes what is needed to reproduce an internal failure: the command, its options, the texts of
// the script and the files it sources, the input data (or the paths of large ones), the seed and
// the machine model. It is one file in the working directory or, if that is not writable, in the
// folder for temporary files.
//
//   prepareReproducer(argc, argv);            // once, at the beginning of main
//   writeReproducer("a slot has no value");   // at the failure; async-signal-safe
#ifndef TOKAMAK_TOOLS_TOKAMAK_REPRODUCER_H
#define TOKAMAK_TOOLS_TOKAMAK_REPRODUCER_H

namespace tokamak {

void prepareReproducer(int argc, char **argv);

// Writes the reproducer and reports its path on stderr. It also holds the inputs recorded during
// the run (base/RunInputs.h).
void writeReproducer(const char *failure);

} // namespace tokamak
#endif
