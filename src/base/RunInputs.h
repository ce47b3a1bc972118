// What went into this run: texts of programs, files of data, what was drawn or measured. It is what
// somebody else needs to repeat the run, so that it goes into the report of a crash. That is
// written inside a signal handler: the list only grows, and walking it takes no lock.
//
//   noteInputFile("data.csv");                 // where the data are; they may be large
//   noteInputText("script.dml", text);         // the text itself
//   for (const RunInput *input = firstRunInput(); input; input = input->next.load())
//     show(input->name, input->text, input->textSize);
#ifndef TOKAMAK_BASE_RUNINPUTS_H
#define TOKAMAK_BASE_RUNINPUTS_H

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

namespace tokamak {

struct RunInput {
  const char *name;
  const char *text; // null: a file that has the name
  size_t textSize;  // bytes of `text`, of which the first `largestInputText` are there
  std::atomic<const RunInput *> next = nullptr;
};

constexpr size_t largestInputText = size_t{4} << 20;

// Each name is noted once, the first `mostRunInputs` of them. Threads may call at the same time.
constexpr size_t mostRunInputs = 10000;
void noteInputFile(const std::string &path);
void noteInputText(const std::string &name, std::string_view text);

// Null where nothing was noted. Async-signal-safe, as is following `next`.
const RunInput *firstRunInput();

} // namespace tokamak
#endif
