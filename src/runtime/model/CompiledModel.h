// Calls the functions of a model that was compiled ahead of time. The functions that the model's header declares are in the
// model's own object file and call these (aot/ModelObject.h); the symbols of two models differ, those here are shared.
//
//   TokContext *settings = tokamak_model_context_create();
//   int32_t status = tokamak_model_call(&model, 0, settings, arguments, results);
//   if (status != 0)
//     std::fputs(tokamak_model_context_error(settings), stderr);
//   tokamak_model_context_free(settings);
#ifndef TOKAMAK_RUNTIME_MODEL_COMPILEDMODEL_H
#define TOKAMAK_RUNTIME_MODEL_COMPILEDMODEL_H

#include "abi/CompiledModel.h"

extern "C" {

// Settings of calls, and the error of the last one. One thread at a time may use a context; several contexts may be used by
// several threads. All functions take null for it: setters do nothing, and there is no error.
struct TokContext;

TokContext *tokamak_model_context_create();
void tokamak_model_context_free(TokContext *context); // null: does nothing
// 0: as many as the process may use.
void tokamak_model_context_set_threads(TokContext *context, int32_t threads);
// Of random numbers that are drawn without a seed; negative: another one at each draw.
void tokamak_model_context_set_seed(TokContext *context, int64_t seed);
// Receives what the program prints; null: it goes to the standard output.
using TokOutput = void (*)(void *owner, const char *text, size_t bytes);
void tokamak_model_context_set_output(TokContext *context, TokOutput output, void *owner);
// Of the last call: "script.dml:3:5: error: ..." with a line for each function that was active; "" if it succeeded.
const char *tokamak_model_context_error(const TokContext *context);
// The place alone; "" and 0 if there is none.
const char *tokamak_model_context_error_file(const TokContext *context);
int32_t tokamak_model_context_error_line(const TokContext *context);
int32_t tokamak_model_context_error_column(const TokContext *context);

struct tokamak_matrix;
struct tokamak_tensor;
// Give back the memory of a result, if it has any that isn't the caller's. Null: do nothing.
void tokamak_model_matrix_free(tokamak_matrix *matrix);
void tokamak_model_tensor_free(tokamak_tensor *tensor);

// `arguments`: addresses of matrices, tensors and texts, bits of doubles, integers. `results`: where each is written. The status is one
// of those in tokamak_compiled.h. Without a context a function that gives texts is refused: the context keeps them.
// Thread-safe.
int32_t tokamak_model_call(const TokModel *model, uint64_t entry, TokContext *context,
                           const uint64_t *arguments, void *const *results);
}

#endif
