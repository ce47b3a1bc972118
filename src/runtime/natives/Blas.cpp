#include "runtime/natives/Blas.h"

#include "base/BundledLibrary.h"
#include "base/MemoryErrors.h"
#include "runtime/natives/PanelGemm.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/mman.h>

namespace tokamak::runtime {
namespace {

enum CblasLayout : int { RowMajor = 101 };
enum CblasTranspose : int { NoTranspose = 111, Transpose = 112 };

template <typename Number>
using Gemm = void (*)(CblasLayout, CblasTranspose, CblasTranspose, int m, int n, int k,
                      Number alpha, const Number *a, int lda, const Number *b, int ldb, Number beta,
                      Number *c, int ldc);
template <typename Number>
using Gemv = void (*)(CblasLayout, CblasTranspose, int m, int n, Number alpha, const Number *a,
                      int lda, const Number *x, int incx, Number beta, Number *y, int incy);

// The products of one precision; null if the library is missing.
template <typename Number> struct Products {
  Gemm<Number> gemm = nullptr;
  Gemv<Number> gemv = nullptr;
};

struct Library {
  Products<double> doubles;
  Products<float> floats;
  Lapack lapack;
  const char *description = "OpenBLAS was not found: plain loops";
};

// On processors it does not know, OpenBLAS would choose kernels of half the speed.
const char *coreType() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (avx512)
    return "SkylakeX";
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell" : nullptr;
#else
  return nullptr;
#endif
}

template <typename Function> void bind(void *handle, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

Library open() {
  Library library;
  constexpr int keepUsersChoice = 0;
  if (const char *core = coreType())
    setenv("OPENBLAS_CORETYPE", core, keepUsersChoice);
  setenv("OPENBLAS_NUM_THREADS", "1", 1); // read when the library loads: no threads are created
  void *handle = openBundledLibrary("libopenblas.so.0").handle;
  if (!handle)
    handle = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL); // of 12,000 names it needs few
  if (!handle)
    return library;
  bind(handle, "cblas_dgemm", library.doubles.gemm);
  bind(handle, "cblas_dgemv", library.doubles.gemv);
  bind(handle, "cblas_sgemm", library.floats.gemm);
  bind(handle, "cblas_sgemv", library.floats.gemv);
  bind(handle, "dgesv_", library.lapack.gesv);
  bind(handle, "dgels_", library.lapack.gels);
  bind(handle, "dpotrf_", library.lapack.potrf);
  bind(handle, "dgetrf_", library.lapack.getrf);
  bind(handle, "dgeqrf_", library.lapack.geqrf);
  bind(handle, "dsyevd_", library.lapack.syevd);
  bind(handle, "dgeev_", library.lapack.geev);
  bind(handle, "dgesdd_", library.lapack.gesdd);
  const char *(*configuration)() = nullptr;
  bind(handle, "openblas_get_config", configuration);
  library.description = configuration ? configuration() : "OpenBLAS";
  return library;
}

const Library &library() {
  static const Library library = open();
  return library;
}

// OpenBLAS allocates a workspace of 128 MiB at the first call on a thread and, if the system
// refuses, retries for ever. So this checks first that there is room. Throws Error.
void requireWorkspace() {
  constexpr size_t workspaceBytes = size_t{160} << 20;
  [[maybe_unused]] thread_local const bool hasRoom = [] {
    void *room = mmap(nullptr, workspaceBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
      throw refusedMemory();
    munmap(room, workspaceBytes);
    return true;
  }();
}

template <typename Number>
void plainGemm(const GemmShape &shape, const Number *lhs, int64_t lhsStride, const Number *rhs,
               int64_t rhsStride, Number *result, int64_t resultStride) {
  for (int64_t i = 0; i < shape.rows; ++i) {
    Number *row = result + i * resultStride;
    std::fill_n(row, shape.columns, Number(0));
    for (int64_t k = 0; k < shape.inner; ++k) {
      Number factor = shape.lhsTransposed ? lhs[k * lhsStride + i] : lhs[i * lhsStride + k];
      for (int64_t j = 0; j < shape.columns; ++j)
        row[j] += factor * (shape.rhsTransposed ? rhs[j * rhsStride + k] : rhs[k * rhsStride + j]);
    }
  }
}

template <typename Number>
void multiply(const Products<Number> &blas, const GemmShape &shape, const Number *lhs,
              int64_t lhsStride, const Number *rhs, int64_t rhsStride, Number *result,
              int64_t resultStride) {
  if (shape.rows == 0 || shape.columns == 0)
    return;
  if (!blas.gemm || shape.inner == 0)
    return plainGemm(shape, lhs, lhsStride, rhs, rhsStride, result, resultStride);
  requireWorkspace();
  auto transposition = [](bool transposed) { return transposed ? Transpose : NoTranspose; };
  auto stride = [](int64_t stride) { return static_cast<int>(std::max<int64_t>(1, stride)); };
  auto rows = static_cast<int>(shape.rows), columns = static_cast<int>(shape.columns);
  auto inner = static_cast<int>(shape.inner);
  if (blas.gemv && columns <= mostSeparateVectors && columns <= rows) {
    int storedRows = shape.lhsTransposed ? inner : rows,
        storedColumns = shape.lhsTransposed ? rows : inner;
    for (int column = 0; column < columns; ++column)
      blas.gemv(RowMajor, transposition(shape.lhsTransposed), storedRows, storedColumns, 1, lhs,
                stride(lhsStride), rhs + column * (shape.rhsTransposed ? rhsStride : 1),
                shape.rhsTransposed ? 1 : stride(rhsStride), 0, result + column,
                stride(resultStride));
    return;
  }
  if (blas.gemv && rows <= mostSeparateVectors) {
    int storedRows = shape.rhsTransposed ? columns : inner,
        storedColumns = shape.rhsTransposed ? inner : columns;
    for (int row = 0; row < rows; ++row)
      blas.gemv(RowMajor, transposition(!shape.rhsTransposed), storedRows, storedColumns, 1, rhs,
                stride(rhsStride), lhs + row * (shape.lhsTransposed ? 1 : lhsStride),
                shape.lhsTransposed ? stride(lhsStride) : 1, 0, result + row * resultStride, 1);
    return;
  }
  blas.gemm(RowMajor, transposition(shape.lhsTransposed), transposition(shape.rhsTransposed), rows,
            columns, inner, 1, lhs, stride(lhsStride), rhs, stride(rhsStride), 0, result,
            stride(resultStride));
}

// OpenBLAS has kernels that pack nothing for products of so few cells, and of few cells of the inner dimension
// packing panels costs more than it saves.
bool isLarge(const GemmShape &shape) {
  constexpr double mostSmall = 1e6;
  constexpr int64_t leastInner = 32;
  return shape.inner >= leastInner && static_cast<double>(shape.rows) *
                                              static_cast<double>(shape.columns) *
                                              static_cast<double>(shape.inner) >
                                          mostSmall;
}

} // namespace

void gemm(const GemmShape &shape, const double *lhs, int64_t lhsStride, const double *rhs,
          int64_t rhsStride, double *result, int64_t resultStride) {
  const Products<double> &products = library().doubles;
  if (suitsPanels(shape) && (isLarge(shape) || !products.gemm))
    return gemmInPanels(shape, lhs, lhsStride, rhs, rhsStride, result, resultStride);
  multiply(products, shape, lhs, lhsStride, rhs, rhsStride, result, resultStride);
}

void gemm(const GemmShape &shape, const float *lhs, int64_t lhsStride, const float *rhs,
          int64_t rhsStride, float *result, int64_t resultStride) {
  if (suitsPanels(shape))
    return gemmInPanels(shape, lhs, lhsStride, rhs, rhsStride, result, resultStride);
  multiply(library().floats, shape, lhs, lhsStride, rhs, rhsStride, result, resultStride);
}

template <typename Number> std::optional<GemmParts> partsOfGemm(const GemmShape &shape) {
  return suitsPanels(shape) && isLarge(shape) ? partsOfPanels<Number>(shape) : std::nullopt;
}
template std::optional<GemmParts> partsOfGemm<double>(const GemmShape &);
template std::optional<GemmParts> partsOfGemm<float>(const GemmShape &);

const Lapack &lapack() {
  requireWorkspace();
  return library().lapack;
}

const char *blasDescription() { return library().description; }

} // namespace tokamak::runtime
