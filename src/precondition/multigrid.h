/// @file
/// The multigrid preconditioner z = M r of the trace operator A (docs/math.md#multigrid).
///
/// Two levels: on the trace, Chebyshev's iteration with blocks of A (precondition/smoother.h), of
/// the fourth kind, in space of the first; below it, continuous linear functions at the vertices
/// (ops/numbering/vertex_space.h), whose system another solver takes (precondition/amg/coarse.h).
/// The cycle is symmetric, with k steps of smoothing before and k after the coarse correction:
///
///     smooth A z = r from z = 0;  c = C P^T (r - A z);  z += P c;  smooth A z = r from z
///
/// A cycle applies A 2 k times, or once less where it knows A P c, and with it the product of the
/// corrected z: from the fluxes of c without reaction, where K^e are reduced
/// (ops/smooth/vertex_flux.h), and by rows of A P on other elements than straight triangles and
/// with coefficients that vary (ops/smooth/vertex_rows.h).
///
/// Everything that depends on the matrix is made once, by kg_multigrid_create(), in memory that was
/// declared before; a cycle only launches operators.
#pragma once
#include "linear/linears.h"
#include "linear/phases.h"
#include "space/edge_lines.h"
#include "precondition/amg/coarse.h"
#include "precondition/smoother.h"
#include "ops/smooth/vertex_flux.h"
#include "ops/smooth/vertex_rows.h"
KEDGE_BEGIN_DECLS

/// Sizes of a multigrid depend on this alone.
typedef struct kg_multigrid_shape {
  int order, m;  ///< m: modes of a facet
  kg_trace_counts count;
  int32_t n_vertices;
  kedge_smoother smoother;
  int smoothing_steps;  ///< k; 0: M = B^-1, the smoother alone, and nothing below the trace
  bool is_general;      ///< not straight triangles with one scalar constant alone
  bool by_quadrature;   ///< elements are curved, or coefficients vary in them
  double alignment;  ///< of the mesh's elements (mesh/mesh.h); with lines, of those without a pair
  int32_t n_lines, n_line_steps;  ///< KEDGE_SMOOTHER_LINE
  kg_number number;               ///< of the cycle on the trace; the levels below are double
  /// The shape of the K^e that it is given, all of one layout and number. Where they are in single
  /// precision, `number` is; where they are REDUCED, there is no reaction, and A P c is known by
  /// its fluxes.
  kg_locals locals;
  int64_t
      spare;  ///< bytes that the coarse solver may keep for speed alone (precondition/amg/coarse.h)
  size_t space_work_bytes;  ///< kg_vertex_space_work_bytes(); not without smoothing steps
} kg_multigrid_shape;

/// Whether the cycle is in single precision inside conjugate gradients in double precision.
static inline bool kg_multigrid_has_copies(const kg_multigrid_shape *shape)
{
  return shape->number == KG_SINGLE && shape->locals.local[0].number == KG_DOUBLE;
}

static inline bool kg_multigrid_in_space(const kg_multigrid_shape *shape)
{
  return kg_lanes_in_space(&shape->count.lanes);
}

static inline bool kg_multigrid_is_reduced(const kg_multigrid_shape *shape)
{
  return shape->locals.local[0].layout == KG_LAYOUT_REDUCED;
}

/// Whether a cycle has rows of A P (ops/smooth/vertex_rows.h). With `precision = compact`, which is
/// for memory, it multiplies instead.
static inline bool kg_multigrid_has_rows(const kg_multigrid_shape *shape)
{
  return shape->is_general && shape->smoothing_steps > 0 && !kg_multigrid_is_reduced(shape) &&
         shape->locals.local[0].number == KG_DOUBLE;
}

/// Whether a cycle knows A P c.
static inline bool kg_multigrid_knows_product(const kg_multigrid_shape *shape)
{
  return kg_multigrid_is_reduced(shape) || kg_multigrid_has_rows(shape);
}

/// The shape of the K^e that a cycle multiplies with: those that it is given, or their copies.
kg_locals kg_multigrid_cycle_locals(const kg_multigrid_shape *shape);

/// The smoother of such a cycle, without memory.
kg_smoother kg_multigrid_smoother(const kg_multigrid_shape *shape);

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
  kg_vertex_modes modes;          ///< kg_multigrid_has_vertex_modes()
  kg_vertex_rows rows;            ///< kg_multigrid_has_rows()
  kg_csr matrix;                  ///< of the coarse space (ops/smooth/vertex_matrix.h)
  double *residual, *correction;  ///< [unknown] of the coarse space
  kg_materials materials;         ///< of all lanes, for fluxes
  const kg_coarse_table *solver;
  kg_coarse_bytes bytes;  ///< of the memory of the coarse solver:
  void *coarse_kept, *coarse_vectors, *coarse_work;
  int32_t *block_fault, *mode_fault;  ///< work of kg_multigrid_create(), as what follows
  void *space_work;
  double *wide;       ///< in space: entries of the coarse matrix
  double *element;    ///< matrices of the elements for their vertices
  kg_plan *plan;      ///< whose phases a cycle enters
  kg_coarse *coarse;  ///< NULL where no vertex carries an unknown
} kg_multigrid;

/// Whether the largest eigenvalue has to be measured (precondition/bound.h). One step on straight
/// triangles with a scalar constant does without: it forgives an eigenvalue up to a third above
/// what the step is for, which only edges on triangles of 179 degrees have come to
/// (kg_smoother_estimate()). More steps make a polynomial that grows fast there.
bool kg_multigrid_is_measured(const kg_multigrid_shape *shape);
/// Whether steps move vertex modes too (ops/smooth/vertex_modes.h): one step with the blocks of
/// edges, from order 5 on, where that takes fewer iterations.
bool kg_multigrid_has_vertex_modes(const kg_multigrid_shape *shape);
/// Whether a cycle reads the sides of the edges in the mesh: for A P c (ops/smooth/vertex_flux.h,
/// ops/smooth/vertex_rows.h) and vertex modes.
bool kg_multigrid_reads_edge_sides(const kg_multigrid_shape *shape);
/// Whether the smoothing after the coarse correction makes z of the one before it again, which is
/// step B^-1 r, instead of reading it: of r + (r - A z).
bool kg_multigrid_repeats(const kg_multigrid_shape *shape);
/// Whether z holds nothing while the coarse system is solved: where that makes room for vectors
/// below the trace. A cycle then begins with zeros in its Dirichlet rows.
static inline bool kg_multigrid_z_rests(const kg_multigrid_shape *shape)
{
  return shape->locals.local[0].number == KG_SINGLE && kg_multigrid_repeats(shape);
}
/// The phases in which the product of a cycle lives: where A P c is not known, UP makes it again.
static inline unsigned kg_multigrid_product_phases(const kg_multigrid_shape *shape)
{
  return KG_IN(BOUND) |
         (kg_multigrid_knows_product(shape) ? KG_FROM(DOWN, UP)
                                            : KG_IN(DOWN) | KG_IN(RESTRICT) | KG_IN(UP));
}

/// Declare all that a multigrid has in device memory, but r, z and the product of a cycle that has
/// the number of conjugate gradients.
/// @param[in,out] multigrid  its shape and solver are there; must not move before kg_plan_free()
void kg_multigrid_declare(kg_plan *plan, kg_multigrid *multigrid);
/// A cycle for KG_VECTORS right-hand sides has vectors of its own and reads the levels and blocks
/// of another multigrid. kg_multigrid_declare_vectors() declares these vectors in a plan;
/// kg_multigrid_share() then points to the levels and blocks of `of`, which is destroyed later.
void kg_multigrid_declare_vectors(kg_plan *plan, kg_multigrid *multigrid);
kedge_status kg_multigrid_share(kedge_context *ctx, const kg_multigrid *of,
                                kg_multigrid *multigrid);

typedef struct kg_multigrid_args {
  kg_batch batch;
  kg_locals locals;            ///< of the shape that was declared
  kg_materials materials;      ///< of all lanes; read where K^e are REDUCED
  const kg_edge_lines *lines;  ///< KEDGE_SMOOTHER_LINE; else not read
  const kedge_mesh *refined;   ///< for the coarse solver (precondition/amg/coarse.h)
} kg_multigrid_args;

/// Make everything, in the memory that was declared.
/// @param[in,out] multigrid  kg_multigrid_destroy() it, also after a failure
/// @retval KEDGE_ERR_NUMERIC  a block of an edge, or the coarse matrix, is not positive definite
kedge_status kg_multigrid_create(kedge_context *ctx, const kg_multigrid_args *args,
                                 kg_multigrid *multigrid);
void kg_multigrid_destroy(kedge_context *ctx, kg_multigrid *multigrid);
/// The trace and the levels below it.
int kg_multigrid_levels(const kg_multigrid *multigrid);
kg_cost kg_multigrid_create_cost(const kg_multigrid_shape *shape);

/// A cycle without what the coarse solver does.
kg_cost kg_multigrid_apply_cost(const kg_multigrid_shape *shape);

KEDGE_END_DECLS
