// Convolutions of images with few windows, such as pieces of sound or what many layers leave of an image: the windows of several images
// are written down one after the other, and all filters are multiplied with them at once.
//
//   if (windows.windows() <= NarrowConvolution<float>::mostWindows)
//     NarrowConvolution<float>(image, weights, 1, windows, result).compute(context);
//
// Tasks are cut by sizes alone, so that bits do not depend on threads.
#ifndef TOKAMAK_RUNTIME_NATIVES_NARROWCONVOLUTION_H
#define TOKAMAK_RUNTIME_NATIVES_NARROWCONVOLUTION_H

#include "runtime/natives/WindowRows.h"

namespace tokamak::runtime {

template <typename Number> class NarrowConvolution {
public:
  // Images of more windows fill a product alone.
  static constexpr int64_t mostWindows = 64;

  // image: images x channels x sizes, weights: filters x channels of a group x places; neither is empty. Windows follow each other evenly
  // along the last dimension. `result`: images x filters x windows.
  NarrowConvolution(const Array &image, const Array &weights, int64_t groups,
                    const WindowRows &windows, Number *result);
  // Throws Error if there is no memory.
  void compute(ExecutionContext &context) const;

private:
  // The places of a window along the last dimension that are inside, `count` from number `begin` on; `cell` is where the first one lies
  // in its channel.
  struct Run {
    int64_t begin, count, cell;
  };

  int64_t inner() const { return channels_ * windows_.places(); }
  double flopsOf(int64_t images) const;
  Run runOf(int64_t window, int64_t outerPlace) const;
  void computeImages(ExecutionContext &context, int64_t group, int64_t first, int64_t count) const;
  void writeWindow(const Number *image, int64_t window, Number *to) const;

  const Array &image_, &weights_;
  const WindowRows &windows_;
  int64_t groups_, channels_, filters_; // of channels and of filters those of one group
  int64_t imageCells_;                  // of one channel
  int64_t spacing_;                     // of places along the last dimension, in cells
  Number *result_;
  std::vector<Run> runs_; // of each window those of all outer places
};

} // namespace tokamak::runtime
#endif
