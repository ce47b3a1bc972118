// Checks of sizes of arrays and frames that come from programs and files: every number is checked
// when it becomes a size, and every product or sum of sizes when it is computed, so none overflows.
//
//   int64_t rows = checkedSize(-1, "rand", "rows");  // Error: rand: the number of rows is negative
//   productOfSizes({1 << 20, 1 << 20})               // 2^40; nullopt where it does not fit
#ifndef TOKAMAK_BASE_SIZES_H
#define TOKAMAK_BASE_SIZES_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace tokamak {

// The largest allowed dimension: an array of this many bytes would fill the address space of a
// process. It is so small that the sum of two sizes, or eight bytes times a size, fits 64 bits.
constexpr int64_t largestSize = int64_t{1} << 48;

inline bool isSize(int64_t number) { return number >= 0 && number <= largestSize; }

// Returns the number if it is a size, else throws the user's Error. `operation` is the function
// called, `what` names the things counted: "rows", "columns".
int64_t checkedSize(int64_t number, std::string_view operation, std::string_view what);

// The product of sizes, or of a size and its bytes per element; 0 if a factor
// is 0; nullopt on overflow.
std::optional<int64_t> productOfSizes(std::span<const int64_t> sizes);
std::optional<int64_t> productOfSizes(std::initializer_list<int64_t> sizes);

// The sum or product of two sizes. Throws the user's Error if the result is no size.
int64_t checkedSum(int64_t a, int64_t b, std::string_view operation, std::string_view what);
int64_t checkedProduct(int64_t a, int64_t b, std::string_view operation, std::string_view what);

} // namespace tokamak
#endif
