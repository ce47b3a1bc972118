// The C header of a model: its types, the functions of its context, and one function for each entry, with what they take and
// give.
//
//   std::string text = modelHeader(model);
#ifndef TOKAMAK_AOT_MODELHEADER_H
#define TOKAMAK_AOT_MODELHEADER_H

#include "aot/Model.h"

namespace tokamak::aot {

std::string modelHeader(const Model &model);
// What the first line of the header of a model of this name begins with, whichever version wrote it.
std::string headerBeginning(std::string_view name);
// The lines that declare an entry's function, for it and for documents.
std::string declarationOf(const Model &model, const ModelEntry &entry);

// The text that all headers begin with, runtime/model/tokamak_compiled.h.
std::string_view compiledHeaderText();

} // namespace tokamak::aot
#endif
