/// @file
/// Functions of the plane that are evaluated together: what they share is computed once.
#pragma once
#include "expression/function.h"
#include "expression/program.h"

struct kg_expression_builder;

/// Gathers the trees of functions in one builder, in which equal parts are one node.
/// @param[out] roots  [n_functions]
/// @retval KEDGE_ERR_UNSUPPORTED  one is the caller's function, or they are too long together
kedge_status kg_functions_gather(struct kg_expression_builder *builder, int n_functions,
                                 const kg_function *const *functions, int32_t *roots);

/// Instructions that all take at a point, each compiled by itself.
int kg_functions_operations(int n_functions, const kg_function *const *functions);

/// Register code whose results are the functions. @param[out] program  kg_program_free()
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_gather()
kedge_status kg_functions_compile(kedge_context *ctx, int n_functions,
                                  const kg_function *const *functions, kg_program *program);
