// Hand-written loops, the peer of Tokamak's generated kernels: as fast as a patient C++ programmer
// makes them.
//
//   hand-written PROGRAM rows=N cols=N reps=N threads=N element=f64|f32 [NAME=VALUE ...]
//
// prints `ns N` for each repetition after a warm-up, and `result R`, which run.py compares with the
// other peers. The loops use explicit vectors of 512 bits (split by the compiler on machines with
// shorter vectors), several accumulators, several rows at a time, huge pages, prefetching, and one
// pass over memory wherever the mathematics allows it.
#include "HandWritten.h"

using namespace bench;

int main(int count, char **arguments) {
  Task task;
  task.given["element"] = "f64";
  for (int i = 1; i < count; ++i) {
    std::string word = arguments[i];
    if (size_t at = word.find('='); at != std::string::npos)
      task.given[word.substr(0, at)] = word.substr(at + 1);
    else
      task.program = word;
  }
  for (const char *name : {"rows", "cols", "reps", "threads"})
    if (!task.given.contains(name)) {
      std::fprintf(stderr, "usage: hand-written PROGRAM rows=N cols=N reps=N threads=N "
                           "[element=f32] [NAME=VALUE ...]\n");
      return 2;
    }
  threadCount = static_cast<int>(task.number("threads"));
  for (auto *family : {measureSums, measureRows, measureSoftmax, measureClasses, measureSparse,
                       measureFactors, measureAlgorithms})
    if (family(task))
      return 0;
  std::fprintf(stderr, "hand-written: no program %s with %lld columns in %s\n",
               task.program.c_str(), static_cast<long long>(task.columns()),
               task.given["element"].c_str());
  return 2;
}
