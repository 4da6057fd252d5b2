/// @file
/// Expressions in x, y, z, t and region: parsed to a tree, differentiated, evaluated in blocks.
#pragma once
#include "core/error.h"
#include "kedge/problem.h"

typedef struct kg_expression kg_expression;  ///< immutable; safe to evaluate from several threads

typedef struct kg_constant {
  const char *name;
  double value;
} kg_constant;

void kg_expression_free(kg_expression *e);  ///< NULL is allowed

/// Symbolic derivative by 'x', 'y', 'z' or 't', simplified. abs, min, max, comparisons and ?: are
/// differentiated branch by branch (the derivative where it exists).
kedge_status kg_expression_differentiate(kedge_context *ctx, const kg_expression *e, char variable,
                                         kg_expression **out);
struct kg_function;
/// The tree  mass u_t - div(diffusion grad u) + reaction u;  u_t is 0 where u has no t in it.
/// @param[in] dimension  2 or 3
/// @param[in] diffusion  1: a scalar, or a tensor: xx, xy, yy, in space xx, xy, xz, yy, yz, zz;
///                       constants or expressions, as the reaction and the mass
/// @param[in] mass       NULL, or of kind NONE: 1
kedge_status kg_expression_source(kedge_context *ctx, const kg_expression *u, int dimension,
                                  int n_diffusion, const struct kg_function *diffusion,
                                  const struct kg_function *reaction,
                                  const struct kg_function *mass, kg_expression **out);

/// value[i] = e at point i, i < points->n. One that has `region` or `z` needs points->region or z.
void kg_expression_evaluate(const kg_expression *e, const kedge_points *points, double *value);
/// Likewise of an expression that names fields.
/// @param[in] fields  [field][points->n]; those that it does not name may be NULL
void kg_expression_evaluate_fields(const kg_expression *e, const kedge_points *points,
                                   const double *const *fields, double *value);
