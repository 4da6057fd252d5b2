/// @file
/// Conjugate gradients on the trace: one recurrence for every backend and operator
/// (docs/math.md#cg).
#pragma once
#include <float.h>

#include "kedge/solution.h"
#include "multigrid/multigrid.h"
#include "ops/cg_resident.h"
#include "ops/cg_vectors.h"
#include "solver/trace_operator.h"

/// The least square of the first residual: below it, squares of residuals that are rounding are no
/// normal numbers any more.
#define KG_CG_LEAST_RR (DBL_MIN / (DBL_EPSILON * DBL_EPSILON))
/// The sentence on a right-hand side below KG_CG_LEAST_RR, and on one whose own squares are 0.
#define KG_CG_TOO_SMALL                                                               \
  "the right-hand side is so small (%.0e) that squares of its residual leave double " \
  "precision: choose other units for the source and boundary values"

/// Iterative refinement, where what iterates is a rounded A (solver/compact.h).
typedef struct kg_cg_refinement {
  /// The residual of x, or of zero, as kg_pcg_start() makes it, rounded to where the iteration has
  /// it, and p = z = 0.
  kedge_status (*start)(void *user, bool of_zero);
  void *user;
  double gain;  ///< the residual is made anew when that of the recurrence has fallen by this factor
} kg_cg_refinement;

typedef struct kg_cg_settings {
  double tolerance;
  bool accepts_rounding;  ///< a residual that is rounding has converged, also above the tolerance
  int64_t max_iterations;
  int64_t n_elements;  ///< triangles, with which rounding of a smooth residual grows; for NVTX too
  /// The stabilization over what couples edges (docs/math.md#large-stabilization).
  double stabilization_ratio;
  /// Norm of what the boundary values make of b - A x_0, about. Where that is little, the residual
  /// is smooth, and multigrid begins with a coarse system that is solved well
  /// (docs/multigrid.md#the-first-iteration).
  double boundary_residual;
  const kg_multigrid *multigrid;  ///< the preconditioner, of the matrix-free operator; NULL: Jacobi
  /// of ops/cg_resident.h, which then iterates (matrix-free alone); NULL: the ordinary loop
  void *resident_work;
  const kg_cg_refinement *refinement;  ///< with multigrid; NULL: A is exact
} kg_cg_settings;

typedef struct kg_cg_result {
  int64_t iterations;
  int starts;     ///< of the recurrence, each from a residual b - A x
  int residuals;  ///< b - A x made from x; with a refinement also b, where that is measured
  int roundings;  ///< how often it was measured what storing x makes of that
  double relative_residual;  ///< of b - A x, recomputed from x
  double start_residual;     ///< that of the x that the iteration began with
  double rounding_residual;  ///< of that, what storing x makes (ops/rounding.h); 0: not measured
  kedge_stop stop;           ///< what ended it
  bool converged;
  char note[400];  ///< one sentence when the tolerance was not reached
} kg_cg_result;

/// Solve A x = b from the x that is there (its Dirichlet rows hold the boundary values). When the
/// recurrence says it has converged but the recomputed residual does not agree, what rounding makes
/// of that residual is measured: it restarts from it unless that is more than the tolerance and
/// there is little else in it, or the last restart gained less than a factor two. With a refinement
/// those restarts are the rule.
///
/// With multigrid and a smooth residual the first iteration has a preconditioner of its own, and
/// the second begins anew; on fine meshes rounding is measured between them, and where it is more
/// than the tolerance the recurrence ends there.
/// @param[in] vectors  n, inverse (with multigrid: r), b (NULL is allowed with a refinement, which
///                     makes the residuals), x, z, p, ap, partial, state; rows of p beyond n are
///                     zero, and with multigrid those of z
/// @retval KEDGE_ERR_NUMERIC  not positive definite, or NaN
kedge_status kg_cg_solve(kedge_context *ctx, const kg_trace_operator *op,
                         const kg_cg_vectors_args *vectors, kg_cg_settings settings,
                         kg_cg_result *result);

/// What a solve that has ended is worth: `converged`, and the `note` where the tolerance was not
/// reached, from settings and other results (docs/multigrid.md#the-limit-of-double-precision).
void kg_cg_judge_end(const kg_cg_settings *settings, kg_cg_result *result);
