/// @file
/// Solve A x = b: residual, iterate, residual, ... for every method and precision. A refinement is
/// the same loop with an A that iterates in single precision.
#pragma once
#include <float.h>

#include "kedge/solution.h"
#include "linear/linear.h"
#include "linear/phases.h"
KEDGE_BEGIN_DECLS

/// The least square of the first residual: below it, squares of residuals that are rounding are no
/// normal numbers any more.
#define KG_SYSTEM_LEAST_RR (DBL_MIN / (DBL_EPSILON * DBL_EPSILON))
/// The sentence on a right-hand side below KG_SYSTEM_LEAST_RR, and on one whose own squares are 0.
#define KG_SYSTEM_TOO_SMALL                                                           \
  "the right-hand side is so small (%.0e) that squares of its residual leave double " \
  "precision: choose other units for the source and boundary values"

/// Above this the equations hold to less than three digits, which is no solution, whoever is to
/// blame. Fine meshes are far below: 3e-9 at ten million triangles, growing like their number.
#define KG_SYSTEM_ROUNDING_MOST 1e-3

typedef struct kg_system {
  kg_residual *residual;
  kg_krylov *krylov;
  /// NULL, or a better M for one iteration where the residual is smooth
  /// (docs/multigrid.md#the-first-iteration).
  const kg_precond *first;
  /// NULL, or what puts an x to begin with in place of x_0, of which the reference is made.
  kedge_status (*warm)(kedge_context *ctx, void *user);
  void *user;
  /// Norms by which the recurrence may fall before the residual is made anew; 0: any, where A is
  /// exact.
  double gain;
  bool keeps;  ///< recordings of the method, for another solve
} kg_system;

typedef struct kg_system_rule {
  double tolerance;
  bool accepts_rounding;  ///< a residual that is rounding has converged, also above the tolerance
  int64_t max_iterations;
  /// The stabilization over what couples edges (docs/math.md#large-stabilization).
  double stabilization_ratio;
  /// About the norm of what boundary values make of b - A x_0. Where it is little, the residual is
  /// smooth.
  double boundary_residual;
} kg_system_rule;

typedef struct kg_system_result {
  int64_t iterations;
  int starts;                ///< of the recurrence, each from a residual b - A x
  int residuals;             ///< b - A x made from x; with a gain also b, where that is measured
  int roundings;             ///< measurements of the residual that storing x makes
  double relative_residual;  ///< of b - A x, recomputed from x
  double start_residual;     ///< of the x that the iteration began with
  double rounding_residual;  ///< the part that storing x makes (ops/vector/rounding.h); 0: none
  kedge_stop stop;           ///< what ended the solve
  double energy;             ///< as in kg_iterated; 0: there was no iteration
  double rr;                 ///< of b - A x
  bool converged;            ///< to the tolerance, or to rounding where the rule accepts that
} kg_system_result;

/// Solve from the given x (its Dirichlet rows hold the boundary values). When the recurrence says
/// it has converged but the recomputed residual does not agree, what rounding makes of that
/// residual is measured: it restarts from it unless that is more than the tolerance and there is
/// little else in it, or the last restart gained less than a factor two. With a gain those restarts
/// are the rule. Of several right-hand sides those that are done stand still.
///
/// After the iteration of `first` rounding is measured on fine meshes, and where it is more than
/// the tolerance the recurrence ends there. Where one of several residuals is smooth all of them
/// take that iteration: none is the worse for it.
/// @param[in] rule  [n_rhs], of one stabilization, as result
/// @retval KEDGE_ERR_NUMERIC  not positive definite, or NaN
kedge_status kg_system_solve(kedge_context *ctx, const kg_system *system,
                             const kg_system_rule *rule, kg_system_result *result);

/// Put the x of `warm`, which is there, and measure its residual, without an iteration. It is
/// infinite where that of x_0 is zero and that of x is not. There is one right-hand side.
kedge_status kg_system_measure(kedge_context *ctx, const kg_system *system,
                               const kg_system_rule *rule, kg_system_result *result);

/// What the iteration does to an x that `warm` puts: the first part of an estimate of the error
/// that is left (elliptic/remainder).
typedef struct kg_system_further {
  double part;             ///< r . z at the end over that at the beginning
  int64_t most;            ///< iterations
  int64_t iterations;      ///< out
  double rr, rr_rounding;  ///< out: of the residual of the x that was put, and what storing x makes
} kg_system_further;

/// Go on from the x that `warm` puts, with its residual, and leave in its place, also in Dirichlet
/// rows, what is to be added to it. There is no failure where rounding ends that. There is one
/// right-hand side.
kedge_status kg_system_go_on(kedge_context *ctx, const kg_system *system,
                             const kg_system_rule *rule, kg_system_further *further);

/// A residual r = b - A x, with an A that lies in memory.
typedef struct kg_plain_residual {
  kg_residual base;
  const kg_linear *linear;  ///< in double precision
  const double *b;          ///< [free row], of all right-hand sides
} kg_plain_residual;
kg_plain_residual kg_plain_residual_of(const kg_linear *linear, const double *b);

KEDGE_END_DECLS
