/// @file
/// What multigrid smooths with on the trace: an approximation B of A whose inverse is cheap, and
/// one step of Chebyshev's iteration with it.
///
/// KEDGE_SMOOTHER_EDGE: the blocks of the edges (ops/edge_blocks.h). KEDGE_SMOOTHER_LINE: A along
/// lines of edges across stretched triangles (mesh/edge_lines.h, ops/line_factor.h), blocks of
/// other edges.
#pragma once
#include "kedge/problem.h"
#include "ops/edge_blocks.h"
#include "ops/line_sweep.h"
#include "ops/pass.h"
#include "ops/vertex_flux.h"
#include "ops/vertex_modes.h"
KEDGE_BEGIN_DECLS

typedef struct kg_smoother {
  kedge_smoother kind;
  kg_sizes size;
  kg_trace_counts count;
  kg_number number;     ///< of the vectors
  kg_block_form form;   ///< of `inverse`
  void *inverse;        ///< factors W of the blocks
  kg_line_steps lines;  ///< LINE
  float *factor;        ///< LINE: of kg_line_factor()
} kg_smoother;

/// Solves along lines of edges.
bool kg_smoother_has_lines(kedge_smoother kind);

/// Form of `inverse`. Beside K^e in single precision that of edges is as small as it can be; lines
/// are long, and add up what halves would lose.
/// @param[in] local  number of K^e
kg_block_form kg_smoother_form(kedge_smoother kind, kg_number local);

/// Fill the numbers of blocks and lines, whose edges are there. Waits for the device.
/// @param[in] fault  work, one word of device memory
kedge_status kg_smoother_make(kedge_context *ctx, const kg_smoother *smoother,
                              const kg_batch *batch, const kg_locals *locals, int32_t *fault);
/// @param[in] n_steps  of lines
/// @param[in] local    number of K^e
kg_cost kg_smoother_make_cost(kedge_smoother kind, kg_sizes size, const kg_trace_counts *count,
                              int32_t n_steps, kg_number local);

/// No eigenvalue of B^-1 A is larger. An element has three edges: K^e is positive semidefinite, so
/// x . K^e x <= 3 (x_1 . K^e x_1 + x_2 . K^e x_2 + x_3 . K^e x_3) for the parts x_l of x on them,
/// the sum over the elements x . A x <= 3 x . B x. With lines it is 3 too, for elements without a
/// pair; those with one have two parts: 2.
#define KG_SMOOTHER_BOUND 3.0
/// What a single step should take for the largest eigenvalue, from the shapes of the elements (with
/// lines: of those without a pair). Of an element alone, with K^e and its own three blocks, the
/// mean fluxes of pure diffusion have a = 1.5 + 0.5 |sum (d / |d|)^2| for the sides d. With all
/// modes it is a or 2 at most, whichever is more, times 1.02 for tau <= 1 and tau <= 1/h, 1.25 for
/// any tau; A has none larger than the worst of its elements. But obtuse triangles stay below a, as
/// higher modes take part: 0.88 to 0.84 of it for angles of 110 to 140 degrees, 0.98 for 170. The
/// largest of 0.85 a and 2 is near enough: a step converges up to 4/3 of it. 0.92 of that takes the
/// fewest iterations with edges, whatever the order, and with lines 0.95, from order 5 on 0.85; all
/// converge for obtuse triangles up to 170 degrees and all tau (tests/multigrid/test_smoothing.c),
/// with vertex modes too (ops/vertex_modes.h): up to 1.26 of it there at orders 5 to 10. Beyond,
/// edges come to the limit: equal isosceles triangles of 179 degrees with tau = 1e-3 are at 1.26 to
/// 1.33 of it, and may make the cycle nearly indefinite; `auto` has lines there. Lines
/// bear 0.85 twice, though 4/3 of it is 0.96 a: on such lattices triangles of 140 degrees and more
/// have a pair each, and are not in the estimate; those of 110 without one reach 0.89 a.
double kg_smoother_estimate(kedge_smoother kind, int order, double alignment);

typedef struct kg_smoother_args {
  const void *r;                    ///< [free trace edge][mode]
  void *product;                    ///< A z, read unless from_zero; work afterwards
  kg_vertex_correction correction;  ///< to be added to z, and to A z, before the step
  kg_vertex_modes modes;            ///< EDGE: moved with the step; value is NULL with all others
  bool from_zero;                   ///< z is zero, whatever it holds
  bool again;                       ///< EDGE: z is step B^-1 r, and is not read
  void *z;
  void *d;                ///< NULL: there is no step after this one
  double step, momentum;  ///< momentum 0: d is not read
  kg_sum sum;             ///< of r . z, with KG_PIECES parts
} kg_smoother_args;

/// d = momentum d + step B^-1 (r - A z),  z += d.
kedge_status kg_smoother_step(kedge_context *ctx, const kg_smoother *smoother,
                              const kg_smoother_args *args);
/// @param[in] local, number  of K^e and of the cycle
kg_cost kg_smoother_step_cost(kedge_smoother kind, kg_sizes size, const kg_trace_counts *count,
                              int32_t n_steps, kg_number local, kg_number number);

KEDGE_END_DECLS
