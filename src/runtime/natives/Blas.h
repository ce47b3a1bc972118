// OpenBLAS, loaded at run time on first use: its core type must be chosen before it loads, and
// programs without matrix products should not wait for it. It always runs on one thread; callers
// split parallel products into tiles.
//
//   gemm({.lhsTransposed = true, .rows = 10, .columns = 5, .inner = 1000}, x, 10, y, 5, result, 5);
#ifndef TOKAMAK_RUNTIME_NATIVES_BLAS_H
#define TOKAMAK_RUNTIME_NATIVES_BLAS_H

#include <cstdint>
#include <optional>

namespace tokamak::runtime {

// result (rows x columns) = op(lhs) (rows x inner) times op(rhs) (inner x columns), all row-major.
struct GemmShape {
  bool lhsTransposed = false, rhsTransposed = false;
  int64_t rows = 0, columns = 0, inner = 0;
};

// With so few rows or columns a product takes as long as reading the other factor: gemm() multiplies with
// one vector after the other.
inline constexpr int64_t mostSeparateVectors = 4;

// Runs on the calling thread. Strides are distances between rows, in cells. Sums are accumulated in
// the type of the cells. Products that suit panels (PanelGemm.h) don't need OpenBLAS, others are plain
// loops without it; small ones of f64 are computed by OpenBLAS where it is there.
void gemm(const GemmShape &shape, const double *lhs, int64_t lhsStride, const double *rhs,
          int64_t rhsStride, double *result, int64_t resultStride);
void gemm(const GemmShape &shape, const float *lhs, int64_t lhsStride, const float *rhs,
          int64_t rhsStride, float *result, int64_t resultStride);

// Parts of so many neighbouring rows, or columns, of a result; the last one may have fewer.
struct GemmParts {
  bool areRows;
  int64_t size;
};
// How a large product of doubles or floats is split, if gemm() first copies one of its factors and there would be several
// parts: each copies what no other one does. nullopt for others.
template <typename Number> std::optional<GemmParts> partsOfGemm(const GemmShape &shape);

// LAPACK's routines in OpenBLAS (column-major); null if the library is missing.
struct Lapack {
  using Gesv = void (*)(const int *n, const int *nrhs, double *a, const int *lda, int *pivots,
                        double *b, const int *ldb, int *info);
  using Gels = void (*)(const char *trans, const int *m, const int *n, const int *nrhs, double *a,
                        const int *lda, double *b, const int *ldb, double *work, const int *lwork,
                        int *info);
  // Factors a positive definite matrix.
  using Potrf = void (*)(const char *uplo, const int *n, double *a, const int *lda, int *info);
  using Getrf = void (*)(const int *m, const int *n, double *a, const int *lda, int *pivots,
                         int *info);
  using Geqrf = void (*)(const int *m, const int *n, double *a, const int *lda, double *tau,
                         double *work, const int *lwork, int *info);
  // Eigenvalues and vectors of a symmetric and of a general matrix.
  using Syevd = void (*)(const char *jobz, const char *uplo, const int *n, double *a,
                         const int *lda, double *w, double *work, const int *lwork, int *iwork,
                         const int *liwork, int *info);
  using Geev = void (*)(const char *jobvl, const char *jobvr, const int *n, double *a,
                        const int *lda, double *wr, double *wi, double *vl, const int *ldvl,
                        double *vr, const int *ldvr, double *work, const int *lwork, int *info);
  using Gesdd = void (*)(const char *jobz, const int *m, const int *n, double *a, const int *lda,
                         double *s, double *u, const int *ldu, double *vt, const int *ldvt,
                         double *work, const int *lwork, int *iwork, int *info);
  Gesv gesv = nullptr;
  Gels gels = nullptr;
  Potrf potrf = nullptr;
  Getrf getrf = nullptr;
  Geqrf geqrf = nullptr;
  Syevd syevd = nullptr;
  Geev geev = nullptr;
  Gesdd gesdd = nullptr;
};
const Lapack &lapack();

// "OpenBLAS 0.3.21 ... SkylakeX", or why there is none. Loads the library.
const char *blasDescription();

} // namespace tokamak::runtime
#endif
