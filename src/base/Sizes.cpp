#include "base/Sizes.h"

#include "base/Error.h"

#include <algorithm>
#include <fmt/format.h>

namespace tokamak {

[[noreturn]] static void failTooLarge(std::string_view operation, std::string_view what,
                                      const std::string &number) {
  throw Error(fmt::format("{}: the number of {} is too large: {}; the most are {}", operation, what,
                          number, largestSize));
}

int64_t checkedSize(int64_t number, std::string_view operation, std::string_view what) {
  if (number < 0)
    throw Error(fmt::format("{}: the number of {} is negative: {}", operation, what, number));
  if (number > largestSize)
    failTooLarge(operation, what, std::to_string(number));
  return number;
}

std::optional<int64_t> productOfSizes(std::span<const int64_t> sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return 0;
  int64_t product = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  return product;
}

std::optional<int64_t> productOfSizes(std::initializer_list<int64_t> sizes) {
  return productOfSizes(std::span(sizes.begin(), sizes.size()));
}

int64_t checkedSum(int64_t a, int64_t b, std::string_view operation, std::string_view what) {
  return checkedSize(a + b, operation, what);
}

int64_t checkedProduct(int64_t a, int64_t b, std::string_view operation, std::string_view what) {
  std::optional<int64_t> product = productOfSizes({a, b});
  if (!product)
    failTooLarge(operation, what, fmt::format("{} times {}", a, b));
  return checkedSize(*product, operation, what);
}

} // namespace tokamak
