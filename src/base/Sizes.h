// Sizes of arrays and frames: numbers that programs and files give. Every number is checked where
// it becomes a size, every product and sum of sizes where it is made; none of them overflows.
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

// No dimension is longer: an array of so many bytes would fill the address space of a process.
// Small enough that the sum of two sizes, or eight bytes for each, fits 64 bits.
constexpr int64_t largestSize = int64_t{1} << 48;

inline bool isSize(int64_t number) { return number >= 0 && number <= largestSize; }

// The number if it is a size. Throws the user's Error otherwise; `operation` is the function that
// was called, `what` is counted: "rows", "columns".
int64_t checkedSize(int64_t number, std::string_view operation, std::string_view what);

// Of sizes, or of a size and bytes for each; 0 if one of them is 0. Nullopt if it does not fit.
std::optional<int64_t> productOfSizes(std::span<const int64_t> sizes);
std::optional<int64_t> productOfSizes(std::initializer_list<int64_t> sizes);

// Both are sizes; so is the result. Throws the user's Error otherwise.
int64_t checkedSum(int64_t a, int64_t b, std::string_view operation, std::string_view what);
int64_t checkedProduct(int64_t a, int64_t b, std::string_view operation, std::string_view what);

} // namespace tokamak
#endif
