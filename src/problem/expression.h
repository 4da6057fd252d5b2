/// @file
/// Expressions in x and y: parsed to a tree, differentiated, evaluated in blocks.
#pragma once
#include "core/error.h"

typedef struct kg_expression kg_expression;  ///< immutable; safe to evaluate from several threads

typedef struct kg_constant {
  const char *name;
  double value;
} kg_constant;

/// Parse. The sentence of a failure gives the column (from 1) and shows nothing of the file: the
/// caller adds where the text stands.
/// @param[in] constants  named parameters, beside x, y and pi
kedge_status kg_expression_parse(kedge_context *ctx, const char *text, const kg_constant *constants,
                                 int n_constants, kg_expression **out);
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
