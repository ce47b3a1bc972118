/* Calls a function that was compiled ahead of time:
     tokamak compile examples/compiled/scoring.dml --entry score --shape X=?x3 --shape w=?x1 -o build/libscoring.a
   docs/ahead-of-time.md says how to link it. */
#include "scoring.h"

#include <stdio.h>

int main(void) {
  double features[] = {1, 0, 2, 0, 1, 1, 3, 1, 0}, weights[] = {0.5, -1, 0.25};
  tokamak_matrix X = {0}, w = {0}, p = {0};
  scoring_context *context = scoring_context_create();
  int status;
  X.rows = 3;
  X.columns = 3;
  X.cells = features;
  w.rows = 3;
  w.columns = 1;
  w.cells = weights;

  status = scoring_score(context, &X, &w, 0.1, &p);
  if (status == TOKAMAK_CALL_SUCCEEDED)
    for (int64_t row = 0; row < p.rows; ++row)
      printf("%.6f\n", p.cells[row]);
  else
    fputs(scoring_context_error(context), stderr);

  scoring_matrix_free(&p);
  scoring_context_free(context);
  return status;
}
