// Several sparse arguments in one call, of 2^42 cells each.
#include "overlapping.h"

#include <stdio.h>
#include <stdlib.h>

#define SIZE (1 << 21)

int main(void) {
  int64_t *offsets = calloc(SIZE + 1, sizeof *offsets);
  static const int32_t some[] = {1, 7, SIZE - 1}, others[] = {7, 9, SIZE - 1};
  static double cells[] = {1, 2, 3}, more[] = {10, 20, 30};
  double *row = calloc(SIZE, sizeof *row);
  double products = 0, sums = 0, differences = 0, scaled = 0;
  overlapping_context *context = overlapping_context_create();
  tokamak_matrix X = {SIZE, SIZE, cells, offsets, some, 0, NULL};
  tokamak_matrix Y = {SIZE, SIZE, more, offsets, others, 0, NULL};
  tokamak_matrix v = {1, SIZE, row, NULL, NULL, 0, NULL};
  int i, status;
  if (!offsets || !row)
    return 3;
  for (i = 4; i <= SIZE; ++i) // the entries are in row 3
    offsets[i] = 3;
  row[SIZE - 1] = 0.5;
  status =
      overlapping_overlap(context, &X, &Y, &v, &products, &sums, &differences, &scaled);
  fputs(overlapping_context_error(context), stderr);
  printf("%g %g %g %g\n", products, sums, differences, scaled);
  overlapping_context_free(context);
  free(offsets);
  free(row);
  return status;
}
