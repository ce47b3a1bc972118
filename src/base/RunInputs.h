// The inputs of this run that are needed to repeat it: program texts, data files, the seed drawn,
// the machine model measured. The crash report lists them. It is written in a signal handler, so
// the list only grows and walking it takes no lock.
//
//   noteInputFile("data.csv");                 // the path only: data may be large
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
  const char *text; // null: `name` is the path of a file
  size_t textSize;  // bytes of the whole text; `text` holds at most the first `largestInputText`
  std::atomic<const RunInput *> next = nullptr;
};

constexpr size_t largestInputText = size_t{4} << 20;

// Each name is recorded once, and at most `mostRunInputs` names. Thread-safe.
constexpr size_t mostRunInputs = 10000;
void noteInputFile(const std::string &path);
void noteInputText(const std::string &name, std::string_view text);

// Null if nothing was recorded. Async-signal-safe, as is following `next`.
const RunInput *firstRunInput();

} // namespace tokamak
#endif
