// What the object file of a model compiled ahead of time holds, and what its functions call: plain C, so that the compiler
// writes it without a C compiler (src/aot) and the runtime reads it (runtime/model).
//
//   const TokModelValue matrix = {"X", TOK_MODEL_MATRIX}, sum = {"s", TOK_MODEL_DOUBLE};
//   const TokModelEntry entry = {"f", "...", 3, &matrix, &sum, 1, 1};
#ifndef TOKAMAK_ABI_COMPILEDMODEL_H
#define TOKAMAK_ABI_COMPILEDMODEL_H

#include "abi/KernelTable.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of this header, tokamak_matrix and tokamak_tensor; a model and a runtime of different versions don't work together.
#define TOK_MODEL_VERSION 2u

// What the functions of a model take and give: tokamak_matrix, double, int64_t, int (0 or 1), text that ends with a zero,
// tokamak_tensor.
enum TokModelType {
  TOK_MODEL_MATRIX,
  TOK_MODEL_DOUBLE,
  TOK_MODEL_INTEGER,
  TOK_MODEL_BOOLEAN,
  TOK_MODEL_TEXT,
  TOK_MODEL_TENSOR
};

typedef struct TokModelValue {
  const char *name;
  uint64_t type; // TokModelType
  // Of a tensor: the type of its cells, TokElementType, and how many dimensions it has.
  uint64_t cells, rank;
  const int64_t *sizes; // of a tensor: those that it must have, -1 where any will do; null: any
} TokModelValue;

// An array that is the same in all calls.
typedef struct TokModelWeight {
  uint64_t type; // of its cells, TokElementType
  uint64_t rank;
  const int64_t *sizes;
  const void *cells; // aligned as kernels like it best
} TokModelWeight;

typedef struct TokModelEntry {
  const char *name; // of the function in the script
  const char *image;
  uint64_t imageBytes;
  const TokModelValue *parameters, *results;
  uint64_t parameterCount, resultCount;
  const TokModelWeight
      *weights; // the last arguments of the image's function, behind the parameters
  uint64_t weightCount;
  // 1 + the number of the image's function that makes the weights of these, once; 0: they are the weights.
  uint64_t preparation;
  void *loaded; // by the runtime, at the first call
} TokModelEntry;

// A native that the images name; its function is one of those declared in runtime/natives/Native.h.
typedef struct TokNativeEntry {
  const char *name;
  void *function;
} TokNativeEntry;

typedef struct TokModel {
  uint64_t version, kernelVersion; // TOK_MODEL_VERSION, TOK_ABI_VERSION
  const char *name;
  TokModelEntry *entries;
  uint64_t entryCount;
  const TokKernelEntry *kernels;
  uint64_t kernelCount;
  const TokNativeEntry *natives;
  uint64_t nativeCount;
  uint64_t processor; // what the kernels need of it: a set of features (ProcessorFeatures.h)
} TokModel;

#ifdef __cplusplus
}
#endif
#endif
