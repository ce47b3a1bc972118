// Convolutions as products with panels of windows: each panel is written down once and multiplied with
// all filters while it is in the cache. Images with few windows share panels.
//
//   PanelConvolution<float>(image, weights, 1, windows, result).compute(context);
//
// Of few windows reading the weights takes longest: they are vectors that gemm() multiplies weights with.
//
// For machines with PanelProduct. Its bits depend on sizes alone.
#ifndef TOKAMAK_RUNTIME_NATIVES_PANELCONVOLUTION_H
#define TOKAMAK_RUNTIME_NATIVES_PANELCONVOLUTION_H

#include "runtime/natives/PanelProduct.h"
#include "runtime/natives/WindowPanel.h"

namespace tokamak::runtime {

template <typename Number> class PanelConvolution {
public:
  // image: images x channels x sizes, weights: filters x channels of a group x places; none is empty.
  // `result`: images x filters x windows.
  PanelConvolution(const Array &image, const Array &weights, int64_t groups,
                   const WindowRows &windows, Number *result,
                   PanelProduct<Number> product = PanelProduct<Number>());
  // Throws Error if there is no memory.
  void compute(ExecutionContext &context) const;

private:
  // Windows of the images that a panel has.
  struct Part {
    int64_t first, count, width;
  };
  // Panels of one group, and where their results go.
  struct Factors {
    std::vector<Panel<Number>> panels;
    std::vector<PanelRun<Number>> runs; // of all panels
    std::vector<size_t> runsEnd;        // of each panel
  };

  int64_t inner() const { return channels_ * windows_.places(); }
  double work() const;
  std::vector<Part> parts() const;
  bool isInImage(const Part &part) const;
  const Number *cellsOf(int64_t group) const;
  WindowPanel<Number> windowsOf(const Part &part) const;
  void add(const Part &part, int64_t group, const Panel<Number> &panel, Factors &factors) const;
  void computeOneByOne(ExecutionContext &context, std::span<const Part> parts,
                       int64_t together) const;
  void computeTogether(ExecutionContext &context, std::span<const Part> parts) const;
  void computeFew(ExecutionContext &context, int64_t columns) const;
  void multiply(int64_t group, const Factors &factors, int64_t begin, int64_t end) const;

  PanelProduct<Number> product_;
  const Array &image_, &weights_;
  const WindowRows &windows_;
  int64_t groups_, channels_, filters_; // of channels and of filters those of one group
  ImageStrides strides_;
  Number *result_;
};

} // namespace tokamak::runtime
#endif
