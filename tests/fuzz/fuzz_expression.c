// Any text: parsed, printed, parsed again (the same tree), differentiated twice, evaluated.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/expression_text.h"

enum { LONGEST_TEXT = 1 << 16, POINTS = 259 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const kg_expression *e)
{
  double x[POINTS], y[POINTS], region[POINTS], value[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = (i - 100) / 64.0;
    y[i] = (200 - i) / 32.0;
    region[i] = i % 5;
  }
  kg_expression_evaluate(e, &(kedge_points){.n = POINTS, .x = x, .y = y, .region = region}, value);
  double alone;  // a point's value does not depend on its place
  const int last = POINTS - 1;
  kg_expression_evaluate(
      e, &(kedge_points){.n = 1, .x = &x[last], .y = &y[last], .region = &region[last]}, &alone);
  if (memcmp(&alone, &value[POINTS - 1], sizeof alone) != 0 && (alone == alone)) abort();
}

static void check_round_trip(const kg_expression *e)
{
  static char once[LONGEST_TEXT], twice[LONGEST_TEXT];
  const int length = expression_print(e, once, sizeof once);
  if (length < 0 || length >= LONGEST_TEXT) return;
  kg_expression *again;
  // Brackets and shared subtrees written out may exceed a limit; anything else must parse.
  if (expression_parse(NULL, once, NULL, 0, &again) != KEDGE_OK) {
    const char *const why = kedge_context_error(NULL);
    if (strstr(why, "nested too deeply") || strstr(why, "terms and operations")) return;
    fprintf(stderr, "%s\n%s\n", once, why);
    abort();
  }
  expression_print(again, twice, sizeof twice);
  kg_expression_free(again);
  if (strcmp(once, twice) == 0) return;
  fprintf(stderr, "%s\n%s\n", once, twice);
  abort();
}

static void differentiate(const kg_expression *e)
{
  kg_expression *d, *dd;
  if (kg_expression_differentiate(NULL, e, 'x', &d) != KEDGE_OK) return;
  evaluate(d);
  if (kg_expression_differentiate(NULL, d, 'y', &dd) == KEDGE_OK) {
    evaluate(dd);
    check_round_trip(dd);
    kg_expression_free(dd);
  }
  kg_expression_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const kg_constant constants[] = {{"k", 2.5}, {"sigma", -0.125}};
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  kg_expression *e;
  if (expression_parse(NULL, text, constants, 2, &e) == KEDGE_OK) {
    evaluate(e);
    check_round_trip(e);
    differentiate(e);
    kg_expression_free(e);
  }
  free(text);
  return 0;
}
