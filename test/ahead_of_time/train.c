// train X Y THREADS: the weights of l2svm, whose other parameters are fixed.
#include "training.h"

#include "matrices.h"

int main(int argc, char **argv) {
  training_context *context = training_context_create();
  tokamak_matrix X, Y, w = {0};
  int status;
  if (argc != 4 || !context)
    return 3;
  X = read_matrix(argv[1]);
  Y = read_matrix(argv[2]);
  training_context_set_threads(context, atoi(argv[3]));
  status = training_l2svm(context, &X, &Y, &w);
  if (status != TOKAMAK_CALL_SUCCEEDED)
    fputs(training_context_error(context), stderr);
  else
    print_matrix("w", &w);
  training_matrix_free(&w);
  training_context_free(context);
  free(X.cells);
  free(Y.cells);
  return status;
}
