/// @file
/// What the tests of expressions share. Include after cmocka.h.
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem/expression_text.h"
#include "expression/expression_tree.h"

static inline kg_expression *parsed(const char *text)
{
  static const kg_constant constants[] = {{"k", 2.5}, {"sigma", -0.125}};
  kg_expression *e;
  if (expression_parse(NULL, text, constants, 2, &e) != KEDGE_OK)
    fail_msg("%s: %s", text, kedge_context_error(NULL));
  return e;
}

static inline double at(const kg_expression *e, double x, double y)
{
  double value = NAN;
  kg_expression_evaluate(e, &(kedge_points){.n = 1, .x = &x, .y = &y}, &value);
  return value;
}

static inline double value_of(const char *text, double x, double y)
{
  kg_expression *e = parsed(text);
  const double value = at(e, x, y);
  kg_expression_free(e);
  return value;
}

static inline void printed(const kg_expression *e, char *text, size_t size)
{
  const int length = expression_print(e, text, size);
  assert_in_range(length, 1, size - 1);
  assert_int_equal(length, strlen(text));
}

/// |a - b| <= c eps max(|a|, |b|, 1); NaN fails.
static inline bool is_close(double a, double b, double c)
{
  const double eps = 2.220446049250313e-16;
  return fabs(a - b) <= c * eps * fmax(fmax(fabs(a), fabs(b)), 1.0);
}
