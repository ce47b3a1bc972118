// Two models in one process, each called by several threads with contexts of their own, of which one prints; sparse
// arguments, numbers, booleans, texts, and what is wrong.
#include "describing.h"
#include "scoring.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ROWS 200
#define THREADS 4

static double cells[ROWS * 2], weights[2] = {0.5, -1}, expected[ROWS];
static const scoring_score_options options = {0.25};

static void drop(void *owner, const char *text, size_t bytes) {
  (void)owner;
  (void)text;
  (void)bytes;
}

static void *work(void *unused) {
  scoring_context *scoring = scoring_context_create();
  describing_context *describing = describing_context_create();
  tokamak_matrix X = {ROWS, 2, cells, NULL, NULL, 0, NULL},
                 w = {2, 1, weights, NULL, NULL, 0, NULL};
  const char *text = NULL;
  int64_t rows = 0;
  int i, isPositive = -1;
  double total = 0;
  void *failed = NULL;
  (void)unused;
  describing_context_set_threads(describing, 1);
  describing_context_set_output(describing, drop, NULL);
  for (i = 0; i < 50 && !failed; ++i) {
    tokamak_matrix p = {0};
    if (scoring_score(scoring, &X, &w, &options, &p) != 0 || p.rows != ROWS ||
        memcmp(p.cells, expected, sizeof expected) != 0)
      failed = scoring;
    scoring_matrix_free(&p);
    if (describing_describe(describing, &X, 2, i % 2, "rows", &total, &rows, &isPositive, &text) !=
            0 ||
        strcmp(text, "rows 200") != 0 || rows != ROWS || isPositive != 1)
      failed = describing;
  }
  scoring_context_free(scoring);
  describing_context_free(describing);
  return failed;
}

static void print(void *owner, const char *text, size_t bytes) {
  strncat((char *)owner, text, bytes);
}

int main(void) {
  static const int64_t offsets[] = {0, 1, 1, 3};
  static const int32_t columns[] = {1, 0, 1};
  static double entries[] = {4, -1, 2};
  scoring_context *scoring = scoring_context_create();
  describing_context *describing = describing_context_create();
  tokamak_matrix X = {ROWS, 2, cells, NULL, NULL, 0, NULL},
                 w = {2, 1, weights, NULL, NULL, 0, NULL}, p = {0};
  tokamak_matrix S = {3, 2, entries, offsets, columns, 0, NULL},
                 narrow = {1, 1, NULL, NULL, NULL, 2, NULL};
  char printed[1000] = "";
  const char *text = NULL;
  double total = 0, room[2];
  int64_t rows = 0;
  int isPositive = -1, i, status;
  pthread_t threads[THREADS];
  for (i = 0; i < ROWS * 2; ++i)
    cells[i] = (i * 7 % 11) - 3;
  if (scoring_score(scoring, &X, &w, &options, &p) != 0)
    return 1;
  memcpy(expected, p.cells, sizeof expected);
  scoring_matrix_free(&p);
  if (p.cells || p.memory)
    return 2;

  describing_context_set_output(describing, print, printed);
  if (describing_describe(describing, &S, 2, 1, "a name", &total, &rows, &isPositive, &text) != 0)
    return 3;
  printf("%s|%g %d %d %s\n", printed, total, (int)rows, isPositive, text);
  if (scoring_score(scoring, &S, &w, &options, &p) != 0)
    return 4;
  printf("%.6f %.6f %.6f\n", p.cells[0], p.cells[1], p.cells[2]);
  scoring_matrix_free(&p);

  // The caller's memory is too small.
  narrow.cells = room;
  status = scoring_score(scoring, &X, &w, &options, &narrow);
  printf("%d %s", status, scoring_context_error(scoring));
  printf("%d\n", (int)narrow.rows);
  // Nothing ran.
  status = scoring_score(scoring, &X, NULL, &options, &p);
  printf("%d %s", status, scoring_context_error(scoring));
  status = describing_describe(describing, &S, 2, 1, NULL, &total, &rows, &isPositive, &text);
  printf("%d %s", status, describing_context_error(describing));
  // Sizes that don't match, and an index out of range: with places in the script.
  status = scoring_score(scoring, &X, &X, &options, &p);
  printf("%d %s", status, scoring_context_error(scoring));
  printf("%s %d %d\n", strrchr(scoring_context_error_file(scoring), '/'),
         scoring_context_error_line(scoring), scoring_context_error_column(scoring));
  status = describing_describe(describing, &X, 3, 1, "", &total, &rows, &isPositive, &text);
  printf("%d %s", status, describing_context_error(describing));
  // A context goes on after errors.
  if (scoring_score(scoring, &X, &w, &options, &p) != 0 || scoring_context_error(scoring)[0])
    return 5;
  scoring_matrix_free(&p);
  scoring_context_free(scoring);
  describing_context_free(describing);

  for (i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0)
      return 6;
  for (i = 0; i < THREADS; ++i) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    if (failed)
      return 7;
  }
  return 0;
}
