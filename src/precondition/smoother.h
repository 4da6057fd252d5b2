/// @file
/// The smoother of multigrid on the trace: an approximation B of A whose inverse is cheap, and one
/// step of Chebyshev's iteration with it. A smoother is a constant table in a file of its own,
/// named here and in smoothers.c.
#pragma once
#include "kedge/problem.h"
#include "ops/smooth/edge_blocks.h"
#include "ops/smooth/line_sweep.h"
#include "ops/pass.h"
#include "ops/smooth/vertex_flux.h"
#include "ops/smooth/vertex_modes.h"
KEDGE_BEGIN_DECLS

typedef struct kg_smoother_table kg_smoother_table;

typedef struct kg_smoother {
  const kg_smoother_table *table;
  int m;
  kg_trace_counts count;
  kg_number number;     ///< of the vectors
  kg_block_form form;   ///< of `inverse`
  void *inverse;        ///< factors W of the blocks
  kg_line_steps lines;  ///< where it has lines
  float *factor;        ///< where it has lines: of kg_line_factor()
} kg_smoother;

typedef struct kg_smoother_args {
  const void *r;                    ///< [free trace edge][mode]
  void *product;                    ///< A z, read unless from_zero; work afterwards
  kg_vertex_correction correction;  ///< to be added to z, and to A z, before the step
  kg_vertex_modes modes;            ///< moved with the step; value is NULL: there are none
  kg_advance advance;               ///< from zero: a step that r takes before it is read
  bool from_zero;                   ///< z is zero, whatever it holds
  bool again;                       ///< z is step B^-1 r, and is not read
  void *z;
  void *d;                ///< NULL: there is no step after this one
  double step, momentum;  ///< momentum 0: d is not read
  kg_sum sum;             ///< of r . z, with KG_PIECES parts
  bool many;              ///< of KG_VECTORS vectors: only where the smoother takes them
} kg_smoother_args;

struct kg_smoother_table {
  /// Fill the numbers of blocks and lines, whose edges are there. Waits for the device.
  /// @param[in] fault  work, one word of device memory
  kedge_status (*make)(kedge_context *ctx, const kg_smoother *smoother, const kg_batch *batch,
                       const kg_locals *locals, int32_t *fault);
  kg_cost (*make_cost)(const kg_smoother *smoother, kg_number local);  ///< `local`: of K^e
  /// d = momentum d + step B^-1 (r - A z),  z += d.
  kedge_status (*step)(kedge_context *ctx, const kg_smoother *smoother,
                       const kg_smoother_args *args);
  kg_cost (*step_cost)(const kg_smoother *smoother);
  double (*bound)(const kg_trace_counts *count);  ///< no eigenvalue of B^-1 A is larger
  double share[2];      ///< of kg_smoother_estimate(): up to order 4, and from order 5 on
  bool halves;          ///< `inverse` may be in half precision, beside K^e in single precision
  bool has_lines;       ///< solves along lines of edges (space/edge_lines.h)
  bool corrects;        ///< a step adds a correction in its pass; else it is added before the step
  bool takes_many;      ///< takes many vectors at once
  bool repeats;         ///< a step makes z of a step from zero again, instead of reading it
  int modes_order_min;  ///< order from which single steps move vertex modes too; 0: none do
};

/// KEDGE_SMOOTHER_EDGE: the blocks of the edges (ops/smooth/edge_blocks.h). KEDGE_SMOOTHER_LINE: A
/// along lines of edges across stretched triangles (ops/smooth/line_factor.h), blocks of other
/// edges.
extern const kg_smoother_table kg_smooth_edges, kg_smooth_lines;

/// The bound of blocks of facets: the most facets n of an element. K^e is positive semidefinite, so
/// x . K^e x <= n (x_1 . K^e x_1 + ... + x_n . K^e x_n) for the parts x_l of x on them, and the sum
/// over the elements is x . A x <= n x . B x.
double kg_smooth_facets_bound(const kg_trace_counts *count);

const kg_smoother_table *kg_smoother_table_of(kedge_smoother kind);

static inline bool kg_smoother_has_lines(kedge_smoother kind)
{
  return kg_smoother_table_of(kind)->has_lines;
}

/// Estimate, for a single step, the largest eigenvalue from the shapes of the elements (with lines:
/// of those without a pair). Of an element alone, with K^e and its own three blocks, the mean
/// fluxes of pure diffusion have a = 1.5 + 0.5 |sum (d / |d|)^2| for the sides d. With all modes it
/// is a or 2 at most, whichever is more, times 1.02 for tau <= 1 and tau <= 1/h, 1.25 for any tau;
/// A has none larger than the worst of its elements. But obtuse triangles stay below a, as higher
/// modes take part: 0.88 to 0.84 of it for angles of 110 to 140 degrees, 0.98 for 170. The largest
/// of 0.85 a and 2 is near enough: a step converges up to 4/3 of it. 0.92 of that takes the fewest
/// iterations with edges, whatever the order, and with lines 0.95, from order 5 on 0.85; all
/// converge for obtuse triangles up to 170 degrees and all tau (tests/multigrid/test_smoothing.c),
/// with vertex modes too (ops/smooth/vertex_modes.h): up to 1.26 of it there at orders 5 to 10.
/// Beyond, edges come to the limit: equal isosceles triangles of 179 degrees with tau = 1e-3 are at
/// 1.26 to 1.33 of it, and may make the cycle nearly indefinite; `auto` has lines there. Lines bear
/// 0.85 twice, though 4/3 of it is 0.96 a: on such lattices triangles of 140 degrees and more have
/// a pair each, and are not in the estimate; those of 110 without one reach 0.89 a.
double kg_smoother_estimate(kedge_smoother kind, int order, double alignment);

KEDGE_END_DECLS
