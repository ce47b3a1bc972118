// Matrices in files for the programs of test/run_ahead_of_time.py: two 64-bit sizes, then the cells.
#ifndef TEST_AHEAD_OF_TIME_MATRICES_H
#define TEST_AHEAD_OF_TIME_MATRICES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static tokamak_matrix read_matrix(const char *path) {
  tokamak_matrix matrix = {0};
  int64_t sizes[2] = {0, 0};
  size_t count;
  FILE *file = fopen(path, "rb");
  if (!file || fread(sizes, sizeof(int64_t), 2, file) != 2) {
    fprintf(stderr, "can't read %s\n", path);
    exit(3);
  }
  matrix.rows = sizes[0];
  matrix.columns = sizes[1];
  count = (size_t)(sizes[0] * sizes[1]);
  matrix.cells = malloc((count + 1) * sizeof(double));
  if (!matrix.cells || fread(matrix.cells, sizeof(double), count, file) != count) {
    fprintf(stderr, "%s is too short\n", path);
    exit(3);
  }
  fclose(file);
  return matrix;
}

// All bits of all cells.
static void print_matrix(const char *name, const tokamak_matrix *matrix) {
  int64_t i;
  printf("%s %" PRId64 "x%" PRId64, name, matrix->rows, matrix->columns);
  for (i = 0; i < matrix->rows * matrix->columns; ++i)
    printf(" %a", matrix->cells[i]);
  printf("\n");
}

#endif
