// The reference semantics of operations on windows: overlapping parts of the last dimensions of an array. For each of
// these there are six numbers: how many windows, how many places in each, the first place of the first window, the
// distances between windows, between places of a window, and between the array's own cells. Places count from 1.
//
//   runtime::Value y = pool(x, "max", numbers);      // the largest cell of each window
#ifndef TOKAMAK_REFERENCE_WINDOWMEANING_H
#define TOKAMAK_REFERENCE_WINDOWMEANING_H

#include "runtime/values/Value.h"

#include <span>

namespace tokamak::reference {

// The cells of all windows. Between the array's own cells and outside of them stands `outside`. The result has the
// leading dimensions, one for windows of each of the last, one for places of each.
runtime::Value windows(const runtime::Value &operand, const runtime::Value &outside,
                       std::span<const runtime::Value> numbers);
// Sums of products of windows and weights. The image is [images, channels, …], the weights are [filters, channels of
// a group, places …], the result is [images, filters, windows …]: filter f of the weights belongs to group
// f / (filters / groups). What is outside of the image counts as 0.
runtime::Value convolve(const runtime::Value &image, const runtime::Value &weights,
                        const runtime::Value &groups, std::span<const runtime::Value> numbers);
// The largest cell ("max") or the sum ("sum") of the cells in each window, without what is outside. The result has the
// leading dimensions and one for windows of each of the last.
runtime::Value pool(const runtime::Value &operand, const runtime::Value &kind,
                    std::span<const runtime::Value> numbers);

} // namespace tokamak::reference
#endif
