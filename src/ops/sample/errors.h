/// @file
/// Errors of a chunk of elements against the exact solution, sampled at points.
#pragma once
#include <math.h>

#include "core/inline.h"
#include "ops/local/triangle/element.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_error_sums {
  double u, q, u_star;  ///< squares of the L2 norms
  double u_max;         ///< maximum over all points; NaN when an error is
} kg_error_sums;

/// The larger of two, but NaN when one is NaN, which fmax() would drop.
KG_INLINE double kg_larger(double a, double b)
{
  return a > b || isnan(a) ? a : b;
}

typedef struct kg_errors_args {
  kg_batch batch;
  kg_points points;               ///< of any rule
  int32_t first_group, n_groups;  ///< the chunk of this call
  const double *u, *q, *u_star;   ///< as kg_local_solve() and kg_postprocess() leave them
  const double *exact;            ///< [group of the chunk][3][point][lane]: u, u_x, u_y
  kg_error_sums *by_group;        ///< out: [group]; summed in order by the caller
  /// out: [group], squares of the L2 norms of diffusion times the error of q; NULL: not wanted, and
  /// what follows is not read
  double *flux_by_group;
  const double *diffusion;  ///< [material][4]: xx, xy, yy, and a number that is not read
  const int32_t *material;  ///< [group][lane]; NULL: the first
} kg_errors_args;

KG_DECLARE_OPERATOR(kg_errors, kg_errors_args);
/// @param[in] rows  of the rule
/// @param[in] flux  whether errors of the flux are wanted
kg_cost kg_errors_cost(kg_sizes size, int rows, bool flux, int64_t n_elements);

KEDGE_END_DECLS
