/* Scores rows with a model that a script computes: the weights are learned once, then each batch is one call. */
#include <tokamak.h>

#include <stdio.h>
#include <stdlib.h>

static const char *script_text =
    "# Weights of a ridge regression.\n"
    "fit = function(matrix[double] X, matrix[double] y, double reg = 0.001) return (matrix[double] w) {\n"
    "  w = solve(t(X) %*% X + diag(matrix(reg, rows=ncol(X), cols=1)), t(X) %*% y)\n"
    "}\n"
    "score = function(matrix[double] X, matrix[double] w) return (matrix[double] p, int above) {\n"
    "  p = X %*% w\n"
    "  above = sum(p > 2)\n"
    "}\n";

/* Ends the program with the text that the command line would show. */
static void check(tokamak_error *error) {
  if (!error)
    return;
  fputs(tokamak_error_text(error), stderr);
  tokamak_error_free(error);
  exit(1);
}

/* A matrix over `cells`, which are not copied and outlive it. */
static tokamak_value *matrix(const double *cells, int64_t rows, int64_t columns) {
  const int64_t sizes[] = {rows, columns};
  tokamak_value *value;
  check(tokamak_value_of_array(TOKAMAK_F64, 2, sizes, cells, NULL, NULL, &value));
  return value;
}

int main(void) {
  const double x[] = {1, 0, 0, 1, 1, 1, 2, 1}, y[] = {1, 2, 3, 4};
  tokamak_program *program;
  tokamak_function *fit, *score;
  tokamak_value *features = matrix(x, 4, 2), *labels = matrix(y, 4, 1), *weights, *results;

  check(tokamak_program_compile("score.dml", script_text, NULL, &program));
  check(tokamak_program_function(program, "fit", &fit));
  check(tokamak_program_function(program, "score", &score));
  printf("%s\n", tokamak_function_signature(fit));

  const tokamak_argument training[] = {{NULL, features}, {NULL, labels}};
  check(tokamak_function_call(fit, training, 2, &weights));

  const tokamak_argument scoring[] = {{"X", features}, {"w", tokamak_value_element(weights, 0)}};
  check(tokamak_function_call(score, scoring, 2, &results));

  tokamak_array scores;
  int64_t above;
  check(tokamak_value_array(tokamak_value_element(results, 0), &scores));
  check(tokamak_value_integer(tokamak_value_element(results, 1), &above));
  for (int64_t row = 0; row < scores.sizes[0]; ++row)
    printf("%.2f\n", ((const double *)scores.cells)[row]);
  printf("%d above 2\n", (int)above);

  /* A mistake is an error with a text, not a crash. */
  tokamak_error *error = tokamak_function_call(score, scoring, 1, &results);
  printf("%s\n", tokamak_error_message(error));
  tokamak_error_free(error);

  tokamak_value_free(results);
  tokamak_value_free(weights);
  tokamak_value_free(labels);
  tokamak_value_free(features);
  tokamak_program_free(program);
  return 0;
}
