// The stem of an English word (M. Porter 1980, "An algorithm for suffix stripping", Program 14), which `map` calls as
// PorterStemmer.stem. Words are in small letters; texts of up to two bytes stay as they are.
//
//   porterStem("relational");                     // "relat"
#ifndef TOKAMAK_RUNTIME_TRANSFORM_PORTERSTEMMER_H
#define TOKAMAK_RUNTIME_TRANSFORM_PORTERSTEMMER_H

#include <string>

namespace tokamak::runtime {

std::string porterStem(std::string word);

} // namespace tokamak::runtime
#endif
