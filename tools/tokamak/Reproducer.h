// What is needed to repeat a failure of ours: the command, its options, the texts of the script and
// of what it sources, the data that were read (or where they are, if they are large), the seed and
// the machine model. It goes to one file in the working directory, or in the folder for temporary
// files where that can't be written.
//
//   prepareReproducer(argc, argv);            // once, at the beginning of main
//   writeReproducer("a slot has no value");   // when it has happened; async-signal-safe
#ifndef TOKAMAK_TOOLS_TOKAMAK_REPRODUCER_H
#define TOKAMAK_TOOLS_TOKAMAK_REPRODUCER_H

namespace tokamak {

void prepareReproducer(int argc, char **argv);

// Says on stderr where it is. Beyond what was prepared it holds the inputs that were noted
// (base/RunInputs.h).
void writeReproducer(const char *failure);

} // namespace tokamak
#endif
