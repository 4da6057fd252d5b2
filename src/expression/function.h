/// @file
/// A function of the plane as a problem file or a caller gives it.
#pragma once
#include "kedge/problem.h"
#include "expression/expression.h"
#include "expression/program.h"

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

/// Whether it has `region` in it; whether it may differ inside of a region.
bool kg_function_uses_region(const kg_function *f);
bool kg_function_varies(const kg_function *f);

// Functions that are evaluated together: what they share is computed once.

struct kg_expression_builder;

/// Gathers the trees of functions in one builder, in which equal parts are one node.
/// @param[out] builder  opened here; the caller closes it, also after a failure
/// @param[out] roots    [n_functions]; the caller frees it
/// @retval KEDGE_ERR_UNSUPPORTED  one is the caller's function, or they are too long together
kedge_status kg_functions_gather(kedge_context *ctx, int n_functions,
                                 const kg_function *const *functions,
                                 struct kg_expression_builder *builder, int32_t **roots);

/// Instructions that all take at a point, each compiled by itself.
int kg_functions_operations(int n_functions, const kg_function *const *functions);

/// Register code whose results are the functions. @param[out] program  kg_program_free()
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_gather()
kedge_status kg_functions_compile(kedge_context *ctx, int n_functions,
                                  const kg_function *const *functions, kg_program *program);
