// The formats of data files by name. Programs may write them in capitals: "CSV" is "csv".
//
//   formatNamed("CSV") == "csv"
//   isSupportedFormat("hdf5", FormatUse::Matrix) == false      // known, but can't be read yet
#ifndef TOKAMAK_BASE_FILEFORMATS_H
#define TOKAMAK_BASE_FILEFORMATS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tokamak {

/// All that DML knows, in small letters.
std::span<const std::string> knownFormats();

/// The name in small letters.
std::string formatNamed(std::string_view text);

enum class FormatUse : uint8_t { Matrix, Frame };

/// Whether data of this kind can be read and written in a format, which is given in small letters.
bool isSupportedFormat(std::string_view format, FormatUse use);

/// What reading or writing (`operation`) in a known format that is not supported fails with.
std::string unsupportedFormat(std::string_view operation, std::string_view format, FormatUse use);

} // namespace tokamak
#endif
