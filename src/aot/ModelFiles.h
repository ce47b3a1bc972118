// Writes the files of a model: an archive (libNAME.a), a shared library (libNAME.so) or a folder, with its header beside or in
// it.
//
//   ModelOutput output = ModelOutput::of("build/libscoring.a");    // the name is scoring
//   writeModel(model, output);
#ifndef TOKAMAK_AOT_MODELFILES_H
#define TOKAMAK_AOT_MODELFILES_H

#include "aot/Model.h"

namespace tokamak::aot {

struct ModelOutput {
  enum class Kind : uint8_t { Archive, Library, Folder } kind;
  std::string path;
  std::string name;           // of the model: an identifier
  std::string header() const; // its path

  // By the ending: .a, .so, or a slash for a folder, which may be left out if the folder has such a model already. Throws
  // Error for others.
  static ModelOutput of(const std::string &path);
};

// Throws Error if files would be lost that writeModel hasn't written: those in the folder, or the header. For those who want to
// know before they compile; writeModel asks again.
void checkReplaced(const ModelOutput &output);

// All or nothing: files have temporary names until all of them are written. Replaces what it has written before; throws Error
// if other files would be lost.
void writeModel(const Model &model, const ModelOutput &output);

// The folder of the runtime that models for this target are linked with: libtokamak-runtime.a. Throws Error if this
// installation has none.
std::string runtimeFolder(const codegen::Target &target);

} // namespace tokamak::aot
#endif
