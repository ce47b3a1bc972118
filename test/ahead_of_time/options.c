// Parameters that are left out: all of them, none, and one of them.
#include "scaling.h"

#include <stdio.h>

int main(void) {
  double cells[] = {1, 2, 3, 2}, s = 0;
  const char *text = NULL;
  tokamak_matrix X = {2, 2, cells, NULL, NULL, 0, NULL};
  scaling_context *context = scaling_context_create();
  scaling_scale_options options = scaling_scale_defaults();
  int call, status = 0;
  for (call = 0; call < 4 && status == 0; ++call) {
    if (call == 2)
      options.negate = 1;
    if (call == 3) {
      options.factor = 2;
      options.times = 1;
      options.name = "other";
    }
    status = scaling_scale(context, &X, 2, call == 0 ? NULL : &options, &s, &text);
    printf("%g %s\n", s, text);
  }
  fputs(scaling_context_error(context), stderr);
  scaling_context_free(context);
  return status;
}
