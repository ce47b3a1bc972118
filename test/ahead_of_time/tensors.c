// tensors THREADS INPUT... OUTPUT...: calls the only function of a model with tensors from files and writes what it gives. Compiled
// with the model's name as -DMODEL=, its function as -DENTRY=, how many tensors there are as -DINPUTS= and -DOUTPUTS=, -DHEADER= and -DARGUMENTS=.
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define FUNCTION(name) JOINED(MODEL, name)

static size_t bytes_of(const tokamak_tensor *tensor) {
  static const size_t bytes[] = {8, 4, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  size_t count = bytes[tensor->type];
  int32_t i;
  for (i = 0; i < tensor->rank; ++i)
    count *= (size_t)tensor->sizes[i];
  return count;
}

static FILE *opened(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file)
    exit(3);
  return file;
}

// A file has the type and the rank, as 32 bits each, eight sizes, then the cells.
static tokamak_tensor read_tensor(const char *path) {
  tokamak_tensor tensor = {0};
  int32_t head[2] = {0, 0};
  FILE *file = opened(path, "rb");
  if (fread(head, sizeof head, 1, file) != 1 ||
      fread(tensor.sizes, sizeof tensor.sizes, 1, file) != 1)
    exit(3);
  tensor.type = (tokamak_type)head[0];
  tensor.rank = head[1];
  tensor.cells = malloc(bytes_of(&tensor) + 1);
  if (!tensor.cells || fread(tensor.cells, 1, bytes_of(&tensor), file) != bytes_of(&tensor))
    exit(3);
  fclose(file);
  return tensor;
}

static void write_tensor(const char *path, const tokamak_tensor *tensor) {
  int32_t head[2];
  FILE *file = opened(path, "wb");
  head[0] = (int32_t)tensor->type;
  head[1] = tensor->rank;
  fwrite(head, sizeof head, 1, file);
  fwrite(tensor->sizes, sizeof tensor->sizes, 1, file);
  fwrite(tensor->cells, 1, bytes_of(tensor), file);
  if (fclose(file) != 0)
    exit(3);
}

int main(int argc, char **argv) {
  FUNCTION(_context) *context = FUNCTION(_context_create)();
  tokamak_tensor in[INPUTS], out[OUTPUTS], own;
  int i, status;
  if (argc != 2 + INPUTS + OUTPUTS)
    return 3;
  FUNCTION(_context_set_threads)(context, atoi(argv[1]));
  for (i = 0; i < INPUTS; ++i)
    in[i] = read_tensor(argv[2 + i]);
  memset(out, 0, sizeof out);
  status = FUNCTION(ENTRY)(context, ARGUMENTS);
  // Once more, into memory of the caller's.
  for (i = 0; i < OUTPUTS && status == TOKAMAK_CALL_SUCCEEDED; ++i) {
    own = out[i];
    out[i].memory = NULL;
    out[i].capacity = (int64_t)bytes_of(&own);
    out[i].cells = malloc(bytes_of(&own) + 1);
    FUNCTION(_tensor_free)(&own);
    if (!out[i].cells || own.cells)
      return 4;
  }
  if (status == TOKAMAK_CALL_SUCCEEDED)
    status = FUNCTION(ENTRY)(context, ARGUMENTS);
  fputs(FUNCTION(_context_error)(context), stderr);
  for (i = 0; i < OUTPUTS && status == TOKAMAK_CALL_SUCCEEDED; ++i) {
    write_tensor(argv[2 + INPUTS + i], &out[i]);
    free(out[i].cells);
  }
  for (i = 0; i < INPUTS; ++i)
    free(in[i].cells);
  FUNCTION(_context_free)(context);
  return status;
}
