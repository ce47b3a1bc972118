// The standard library of algorithms, embedded at build time from lib/*.dml.
//
//   for (const EmbeddedSource &source : embeddedLibrary())
//     if (source.name == "l2svm") parse(source.path, source.text);
#ifndef TOKAMAK_API_EMBEDDEDLIBRARY_H
#define TOKAMAK_API_EMBEDDEDLIBRARY_H

#include <string_view>
#include <vector>

namespace tokamak::api {

struct EmbeddedSource {
  std::string_view name; // l2svm
  std::string_view path; // lib/l2svm.dml, for messages
  std::string_view text;
};

const std::vector<EmbeddedSource> &embeddedLibrary();

} // namespace tokamak::api
#endif
