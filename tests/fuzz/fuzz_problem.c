// Any bytes as a problem file, with an override and a later call on top.
#include <stdlib.h>
#include <string.h>

#include "problem/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const overrides[] = {"space.order=3"};
  kedge_problem *problem;
  char *text = malloc(size ? size : 1);  // exactly: nothing may be read behind it
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  const int n_overrides = size % 2 == 0 ? 1 : 0;
  const kedge_status status =
      kg_problem_parse(NULL, "fuzz.ini", text, size, overrides, n_overrides, &problem);
  if (status == KEDGE_OK) {
    const double x = 0.25, y = 0.75;
    double value;
    kg_function_evaluate(&problem->equation.source, &(kedge_points){.n = 1, .x = &x, .y = &y},
                         &value);
    if (kedge_problem_set(problem, "space", "order", "2") != KEDGE_OK) abort();
    kedge_problem_destroy(problem);
  } else if (kedge_context_error(NULL)[0] == '\0') {
    abort();  // a refusal without a sentence
  }
  free(text);
  return 0;
}
