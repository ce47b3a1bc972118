// clusters X k THREADS: centroids and the number of each row's.
#include "clusters.h"

#include "matrices.h"

int main(int argc, char **argv) {
  clusters_context *context = clusters_context_create();
  tokamak_matrix X, C = {0}, Y = {0};
  clusters_kmeans_options options = clusters_kmeans_defaults();
  int status;
  if (argc != 4 || !context)
    return 3;
  X = read_matrix(argv[1]);
  clusters_context_set_threads(context, atoi(argv[3]));
  options.k = atoi(argv[2]);
  options.runs = 3;
  options.max_iter = 50;
  options.eps = 1e-6;
  options.seed = 7;
  status = clusters_kmeans(context, &X, &options, &C, &Y);
  if (status != TOKAMAK_CALL_SUCCEEDED) {
    fputs(clusters_context_error(context), stderr);
  } else {
    print_matrix("C", &C);
    print_matrix("Y", &Y);
  }
  clusters_matrix_free(&C);
  clusters_matrix_free(&Y);
  clusters_context_free(context);
  free(X.cells);
  return status;
}
