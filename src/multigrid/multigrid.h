/// @file
/// The multigrid preconditioner z = M r of the trace operator A (docs/math.md#multigrid).
///
/// Two levels: on the trace, Chebyshev's iteration with blocks of A (multigrid/smoother.h); below
/// it, continuous linear functions at the vertices (ops/vertex_space.h), whose system another
/// solver takes (multigrid/coarse.h). The cycle is symmetric, with k steps of smoothing before and
/// k after the coarse correction:
///
///     smooth A z = r from z = 0;  c = C P^T (r - A z);  z += P c;  smooth A z = r from z
///
/// It applies A 2 k times. Without reaction, where K^e are reduced, once less: A P c, and with it
/// the product of the corrected z, is known from the fluxes of c (ops/vertex_flux.h).
///
/// Everything that depends on the matrix is made once, by kg_multigrid_create(), in memory that the
/// caller gives; a cycle only launches operators.
#pragma once
#include "linear/linears.h"
#include "mesh/edge_lines.h"
#include "multigrid/coarse.h"
#include "multigrid/smoother.h"
#include "ops/vertex_flux.h"
KEDGE_BEGIN_DECLS

/// What sizes depend on.
typedef struct kg_multigrid_shape {
  kg_sizes size;
  kg_trace_counts count;
  int32_t n_vertices;
  kedge_smoother smoother;
  int smoothing_steps;  ///< k; 0: M = B^-1, the smoother alone, and nothing below the trace
  double alignment;  ///< of the mesh's elements (mesh/mesh.h); with lines, of those without a pair
  int32_t n_lines, n_line_steps;  ///< KEDGE_SMOOTHER_LINE
  kg_number number;               ///< of the cycle on the trace; the levels below are double
  /// The shape of the K^e that it is given, all of one layout and number. Where they are in single
  /// precision, `number` is; where they are REDUCED, there is no reaction, and A P c is known by its
  /// fluxes.
  kg_locals locals;
  double diffusion;  ///< of the equation, for these fluxes
} kg_multigrid_shape;

/// Whether the cycle is in single precision inside conjugate gradients in double precision.
static inline bool kg_multigrid_has_copies(const kg_multigrid_shape *shape)
{
  return shape->number == KG_SINGLE && shape->locals.local[0].number == KG_DOUBLE;
}

static inline bool kg_multigrid_is_reduced(const kg_multigrid_shape *shape)
{
  return shape->locals.local[0].layout == KG_LAYOUT_REDUCED;
}

/// The shape of the K^e that a cycle multiplies with: those that it is given, or their copies.
kg_locals kg_multigrid_cycle_locals(const kg_multigrid_shape *shape);

/// Copies in single precision: K^e and the vectors of a cycle. All NULL where the cycle has the
/// precision of conjugate gradients, and works with theirs.
typedef struct kg_multigrid_single {
  kg_locals locals;
  float *r, *product, *halo;
  float *z;
} kg_multigrid_single;

typedef struct kg_multigrid {
  kg_multigrid_shape shape;
  kg_smoother smoother;
  double largest_eigenvalue;  ///< of B^-1 A, what the steps of smoothing are for
  void *d;  ///< [free trace edge][mode]: Chebyshev's direction; NULL with one step
  kg_multigrid_single single;
  kg_vertex_space space;
  kg_vertex_modes modes;  ///< kg_multigrid_has_vertex_modes()
  kg_csr_place
      matrix;  ///< of the coarse space (ops/vertex_matrix.h), but for its rows: they begin as ends
  double *residual, *correction;  ///< [unknown] of the coarse space
  const kg_coarse_table *solver;
  kg_coarse *coarse;  ///< NULL where no vertex carries an unknown
} kg_multigrid;

/// Whether the largest eigenvalue has to be measured (multigrid/bound.h). One step does without: it
/// forgives an eigenvalue up to a third above what the step is for, which only edges on triangles
/// of 179 degrees have come to (kg_smoother_estimate()). More steps make a polynomial that grows
/// fast there.
bool kg_multigrid_is_measured(const kg_multigrid_shape *shape);
/// Whether steps move vertex modes too (ops/vertex_modes.h): one step with the blocks of edges,
/// from order 5 on, where that takes fewer iterations.
bool kg_multigrid_has_vertex_modes(const kg_multigrid_shape *shape);
/// Whether a cycle reads the sides of the edges in the mesh: for A P c (ops/vertex_flux.h) and
/// vertex modes.
bool kg_multigrid_reads_edge_sides(const kg_multigrid_shape *shape);
/// Whether the smoothing after the coarse correction makes z of the one before it again, which is
/// step B^-1 r, instead of reading it: of r + (r - A z).
bool kg_multigrid_repeats(const kg_multigrid_shape *shape);
/// Bytes of the memory that kg_multigrid_create() is given, beside that of the coarse solver: for
/// the cycle on the trace, for what is below it, and for work.
size_t kg_multigrid_trace_bytes(const kg_multigrid_shape *shape);
size_t kg_multigrid_space_bytes(const kg_multigrid_shape *shape);
/// Bytes of the vectors below the trace but the one beside the halo (kg_multigrid_lend()). Without
/// reaction they hold something from the restriction of a residual until its coarse system is
/// solved, and z may lie in their memory where kg_multigrid_repeats(); with one until the
/// correction is added, and the product may.
size_t kg_multigrid_vector_bytes(const kg_multigrid_shape *shape, const kg_coarse_table *solver);
kedge_status kg_multigrid_work_bytes(kedge_context *ctx, const kg_multigrid_shape *shape,
                                     size_t *bytes);

typedef struct kg_multigrid_args {
  kg_multigrid_shape shape;
  kg_batch batch;
  kg_locals locals;               ///< of the shape in `shape`
  const kg_edge_lines *lines;     ///< KEDGE_SMOOTHER_LINE; else not read
  const kg_coarse_table *solver;  ///< of the coarse system
  const kedge_mesh *refined;      ///< for it (multigrid/coarse.h)
  void *trace, *space;            ///< device memory of these sizes
  void *work;                     ///< the same, free again afterwards
  size_t work_bytes;
  void *coarse;  ///< memory of the coarse solver, which may have `work` too
  size_t coarse_bytes;
} kg_multigrid_args;

/// @param[out] out  kg_multigrid_destroy() it, also after a failure
/// @retval KEDGE_ERR_NUMERIC  a block of an edge, or the coarse matrix, is not positive definite
kedge_status kg_multigrid_create(kedge_context *ctx, const kg_multigrid_args *args,
                                 kg_multigrid *out);
/// Memory for the vectors below the trace, before the first cycle.
/// @param[in] halo  a double an unknown at least: for one of them, which holds nothing while A is
///                  applied, so that it is where the halo of products lies
kedge_status kg_multigrid_lend(kedge_context *ctx, kg_multigrid *multigrid, kg_buffer halo,
                               void *vectors, size_t bytes);
void kg_multigrid_destroy(kedge_context *ctx, kg_multigrid *multigrid);
/// The trace and the levels below it.
int kg_multigrid_levels(const kg_multigrid *multigrid);
kg_cost kg_multigrid_create_cost(const kg_multigrid_shape *shape);

/// What a cycle works on, in its number.
typedef struct kg_multigrid_vectors {
  const void *r;  ///< [free trace edge][mode]
  void *z;        ///< [trace edge][mode]; Dirichlet rows are zero
  void *product;  ///< work: [free trace edge][mode]
  kg_sum sum;     ///< r . z, with KG_PIECES parts
} kg_multigrid_vectors;

/// z = M r. M is symmetric, up to rounding, positive definite and always the same, for one `well`.
/// @param[in] well  a better M, whose coarse system is solved well (multigrid/coarse.h)
/// @param[in] a     A, of the number of the cycle
kedge_status kg_multigrid_apply(kedge_context *ctx, const kg_multigrid *multigrid, bool well,
                                const kg_patches *a, const kg_multigrid_vectors *vectors);
/// z = B^-1 r with the blocks of the smoother, without levels.
kedge_status kg_multigrid_apply_blocks(kedge_context *ctx, const kg_multigrid *multigrid,
                                       const kg_patches *a, const kg_multigrid_vectors *vectors);
/// A cycle without what the coarse solver does.
kg_cost kg_multigrid_apply_cost(const kg_multigrid_shape *shape);

KEDGE_END_DECLS
