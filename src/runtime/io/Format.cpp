#include "runtime/io/Format.h"

#include "base/NearestNames.h"

#include <unistd.h>

namespace tokamak::runtime {

static constexpr const Format *formats[] = {
#define TOKAMAK_FORMAT(Name, ...) &Name##Format,
#include "base/FileFormats.def"
};

const Format *findFormat(std::string_view name) {
  for (const Format *format : formats)
    if (format->name == name)
      return format;
  return nullptr;
}

void failFormat(std::string_view operation, const std::string &format, FormatUse use) {
  std::vector<std::string> known(knownFormats().begin(), knownFormats().end());
  if (std::find(known.begin(), known.end(), format) != known.end())
    throw Error(unsupportedFormat(operation, format, use));
  std::vector<std::string> candidates = nearestCandidates(format, known, 1);
  throw Error(fmt::format("{}: unknown format \"{}\"{}", operation, format,
                          candidates.empty()
                              ? fmt::format(": expected {}", supportedFormats(use))
                              : fmt::format("; did you mean \"{}\"?", candidates[0])));
}

void failWithoutFormat(const std::string &path) {
  std::string metadata = path + ".mtd";
  throw Error(fmt::format("read: the format of {} is not known: {}, and format is not given", path,
                          access(metadata.c_str(), F_OK) == 0
                              ? metadata + " doesn't say it"
                              : fmt::format("there is no {}", metadata)));
}

std::string_view bytesOfOnlyFile(const MatrixFile &file, TextSource &source) {
  if (source.parts() > 1)
    throw Error(fmt::format("{}: a folder of {} files: the format {} is a single file", file.path,
                            source.parts(), file.format));
  return source.bytesOf(0);
}

const Format *formatOfFile(const std::string &path) {
  for (const Format *format : formats)
    if (format->readMatrix && !format->beginning.empty() && beginsWith(path, format->beginning))
      return format;
  return nullptr;
}

} // namespace tokamak::runtime
