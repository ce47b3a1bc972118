// combine X Y THREADS: cells of operands that are broadcast, and a sum.
#include "combining.h"

#include "matrices.h"

int main(int argc, char **argv) {
  combining_context *context = combining_context_create();
  tokamak_matrix X, Y, Z = {0}, sum = {1, 1, NULL, NULL, NULL, 1, NULL};
  double s = 0;
  int status;
  if (argc != 4 || !context)
    return 3;
  X = read_matrix(argv[1]);
  Y = read_matrix(argv[2]);
  combining_context_set_threads(context, atoi(argv[3]));
  status = combining_combine(context, &X, &Y, &Z, &s);
  if (status != TOKAMAK_CALL_SUCCEEDED) {
    fputs(combining_context_error(context), stderr);
  } else {
    sum.cells = &s;
    print_matrix("Z", &Z);
    print_matrix("s", &sum);
  }
  combining_matrix_free(&Z);
  combining_context_free(context);
  free(X.cells);
  free(Y.cells);
  return status;
}
