// The kernels that are linked into a program which was planned ahead of time: a table that the
// compiler writes as C, next to their object files.
//
//   const TokKernelEntry tokKernels[] = {{"cell_exp_sum_1", cell_exp_sum_1, cell_exp_sum_1_merge}};
//   const uint64_t tokKernelCount = 1;
#ifndef TOKAMAK_ABI_KERNELTABLE_H
#define TOKAMAK_ABI_KERNELTABLE_H

#include "abi/Kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TokKernelEntry {
  const char *name;
  TokKernel kernel;
  TokMerge merge; // null where there are no partial results
} TokKernelEntry;

extern const TokKernelEntry tokKernels[];
extern const uint64_t tokKernelCount;

#ifdef __cplusplus
}
#endif
#endif
