/// @file
/// What a problem file or a caller gives for a function of the plane.
#pragma once
#include "kedge/problem.h"
#include "expression/expression.h"

/// A function of the plane: nothing, a constant, an expression, or the caller's function.
typedef struct kg_function {
  enum { KG_FUNCTION_NONE, KG_FUNCTION_CONSTANT, KG_FUNCTION_EXPRESSION, KG_FUNCTION_CALLER } kind;
  double constant;
  kg_expression *expression;  ///< owned by whoever owns the kg_function
  kedge_function *function;
  void *user;
} kg_function;

/// NONE evaluates to zero.
/// @param[out] value  [points->n]
void kg_function_evaluate(const kg_function *f, const kedge_points *points, double *value);
