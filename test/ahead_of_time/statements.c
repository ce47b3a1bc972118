// statements THREADS: runs what was a script.
#include "statements.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  statements_context *context = statements_context_create();
  int status;
  statements_context_set_threads(context, argc > 1 ? atoi(argv[1]) : 1);
  status = statements_main(context);
  fputs(statements_context_error(context), stderr);
  statements_context_free(context);
  return status;
}
