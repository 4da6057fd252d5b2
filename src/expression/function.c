#include "expression/function.h"

void kg_function_evaluate(const kg_function *f, const kedge_points *points, double *value)
{
  switch (f->kind) {
    case KG_FUNCTION_EXPRESSION:
      kg_expression_evaluate(f->expression, points->n, points->x, points->y, value);
      return;
    case KG_FUNCTION_CALLER:
      f->function(f->user, points, value);
      return;
    default:
      break;
  }
  const double constant = f->kind == KG_FUNCTION_CONSTANT ? f->constant : 0.0;
  for (size_t i = 0; i < points->n; ++i) value[i] = constant;
}
