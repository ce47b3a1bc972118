// The names of the formats of data files. Programs may write them in capitals: "CSV" is "csv".
//
//   formatNamed("CSV") == "csv"
//   isSupportedFormat("cog", FormatUse::Matrix) == false       // known, but can't be read
//
// The table of formats is FileFormats.def.
#ifndef TOKAMAK_BASE_FILEFORMATS_H
#define TOKAMAK_BASE_FILEFORMATS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tokamak {

/// All formats that DML has, in lower case.
std::span<const std::string> knownFormats();

/// The name in lower case.
std::string formatNamed(std::string_view text);

enum class FormatUse : uint8_t { Matrix, Frame };

/// Whether matrices or frames can be read and written in this format (in lower case).
bool isSupportedFormat(std::string_view format, FormatUse use);

/// The formats that hold matrices or frames, for messages: "csv, text or mm".
std::string supportedFormats(FormatUse use);

/// The error message for reading or writing (`operation`) a known format that is not supported.
std::string unsupportedFormat(std::string_view operation, std::string_view format, FormatUse use);

} // namespace tokamak
#endif
