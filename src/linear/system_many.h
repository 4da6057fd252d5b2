/// @file
/// Solve A x = b of many right-hand sides at once, up to the residuals that are made after the
/// first iteration: where one of them is not as it should be, kg_system_solve() goes on with that.
#pragma once
#include "linear/cg_many.h"
#include "linear/system.h"
KEDGE_BEGIN_DECLS

typedef struct kg_system_many {
  kg_cg_many *cg;
  kg_cg_many *first;  ///< as in kg_system; not NULL
  const double *b;    ///< [free row][vector]
} kg_system_many;

/// Solve from the x of `cg`, zero but for the boundary values in its Dirichlet rows.
/// @param[in] rules  [vector]
/// @param[out] begun  [vector]: for kg_system.begun
/// @retval KEDGE_ERR_NUMERIC  not positive definite, or NaN
kedge_status kg_system_solve_many(kedge_context *ctx, const kg_system_many *system,
                                  const kg_system_rule *rules, kg_system_begun *begun);

KEDGE_END_DECLS
