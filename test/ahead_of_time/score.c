// score X w b THREADS: the probabilities, in memory of the caller's.
#include "scoring.h"

#include "matrices.h"

int main(int argc, char **argv) {
  scoring_context *context = scoring_context_create();
  tokamak_matrix X, w, p = {0};
  scoring_score_options options = scoring_score_defaults();
  int status;
  if (argc != 5 || !context)
    return 3;
  X = read_matrix(argv[1]);
  w = read_matrix(argv[2]);
  scoring_context_set_threads(context, atoi(argv[4]));
  p.capacity = X.rows;
  p.cells = malloc(sizeof(double) * (size_t)(X.rows + 1));
  if (!p.cells)
    return 3;
  p.cells[X.rows] = 42;
  options.b = atof(argv[3]);
  status = scoring_score(context, &X, &w, &options, &p);
  if (status != TOKAMAK_CALL_SUCCEEDED)
    fprintf(stderr, "%s%s %d %d\n", scoring_context_error(context),
            scoring_context_error_file(context), scoring_context_error_line(context),
            scoring_context_error_column(context));
  else
    print_matrix("p", &p);
  if (p.memory || p.cells[X.rows] != 42)
    return 4;
  free(p.cells);
  scoring_context_free(context);
  free(X.cells);
  free(w.cells);
  return status;
}
