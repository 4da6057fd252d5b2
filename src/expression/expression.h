/// @file
/// Expressions in x and y: parsed to a tree, differentiated, evaluated in blocks.
#pragma once
#include "core/error.h"

typedef struct kg_expression kg_expression;  ///< immutable; safe to evaluate from several threads

typedef struct kg_constant {
  const char *name;
  double value;
} kg_constant;

void kg_expression_free(kg_expression *e);  ///< NULL is allowed

/// Symbolic derivative by 'x' or 'y', simplified. abs, min, max, comparisons and ?: are
/// differentiated branch by branch (the derivative where it exists).
kedge_status kg_expression_differentiate(kedge_context *ctx, const kg_expression *e, char variable,
                                         kg_expression **out);
/// The tree  -diffusion (u_xx + u_yy) + reaction u.
kedge_status kg_expression_source(kedge_context *ctx, const kg_expression *u, double diffusion,
                                  double reaction, kg_expression **out);

/// value[i] = e(x[i], y[i]), i < n.
void kg_expression_evaluate(const kg_expression *e, size_t n, const double *x, const double *y,
                            double *value);
