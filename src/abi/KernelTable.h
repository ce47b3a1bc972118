// The table of the kernels linked into a program that was planned ahead of time; the compiler
// writes it as C source, next to the kernels' object files.
//
//   extern int32_t cell_exp_sum_1(const TokArguments *, const TokTile *, TokWorkspace *);
//   extern void cell_exp_sum_1_merge(const TokArguments *, double *, const double *);
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
  TokMerge merge; // null if the kernel has no partial results
} TokKernelEntry;

extern const TokKernelEntry tokKernels[];
extern const uint64_t tokKernelCount;

#ifdef __cplusplus
}
#endif
#endif
