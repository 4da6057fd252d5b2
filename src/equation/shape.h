/// @file
/// The shape of a solve: the counts and choices that determine the sizes of its arrays. They are
/// known before memory is allocated.
#pragma once
#include "device/backend.h"
#include "basis/reference.h"
#include "kedge/solution.h"
#include "space/group_sums.h"
#include "precondition/multigrid.h"
#include "ops/local/local.h"
#include "equation/choose.h"

/// Consecutive elements of one shape, in lanes.
typedef struct kg_shape_batch {
  const kg_cell *cell;
  kg_cell_sizes size;
  kg_lane_batch lanes;
  int n_nodes;          ///< of the map of a curved element; 0: straight
  bool exact;           ///< by quadrature: the mass matrix of the flux is inverted
  bool keeps_gradient;  ///< by quadrature: q is the weak gradient, kept beside the flux
  bool by_quadrature;   ///< else: straight triangles or tetrahedra with constant coefficients
  int n_means;          ///< numbers of an element where means are kept: kg_form.means
  bool samples_cells;   ///< functions are sampled at kg_cell_points; else at kg_points of triangles
} kg_shape_batch;

/// Sizes of the solve's arrays depend on this alone.
typedef struct kg_shape {
  int m;          ///< modes of a facet
  kg_sizes size;  ///< of triangles
  kg_trace_counts count;
  kg_grouped_count grouped;
  int n_batches;
  kg_shape_batch batch[KG_BATCHES_MAX];
  int64_t n_vertices;
  int geometry;         ///< order of the maps of elements
  int rows;             ///< points a direction of local matrices by quadrature
  int boundary_points;  ///< on a facet, of boundary data
  /// Points a direction where errors are sampled: of batches by quadrature, and of the others.
  int exact_rows, fast_exact_rows;
  kg_choice choice;
  int n_materials;                ///< of regions or elements; 0: coefficients vary
  double alignment;               ///< of the mesh's elements; with lines, of those without a pair
  int32_t n_lines, n_line_steps;  ///< space/edge_lines.h
  int32_t n_robin;                ///< edges of section 3, if one of them has a Robin condition
  bool forgets_constants;         ///< kg_forgets_constants()
  size_t ell_work_bytes, space_work_bytes;
  int64_t march_bytes;    ///< of the device, beside a solver: kg_march_bytes()
  size_t resident_bytes;  ///< of ops/trace/cg_resident.h; 0: the ordinary loop
} kg_shape;

bool kg_shape_has_quadrature(const kg_shape *shape);  ///< of some batch
/// Return the element shape with this index (kg_cell_index()). NULL: the mesh has no elements of
/// that shape in which functions are sampled at kg_cell_points.
const kg_cell *kg_shape_cell(const kg_shape *shape, int index);
/// Return the largest number of points in an element where the source is sampled; where the exact
/// solution is; where varying coefficients are, which only elements by quadrature have.
int kg_shape_source_points(const kg_shape *shape);
int kg_shape_exact_points(const kg_shape *shape);
int kg_shape_value_functions(const kg_shape *shape);  ///< diffusion and reaction
int kg_shape_value_points(const kg_shape *shape);
kg_multigrid_shape kg_shape_multigrid(const kg_shape *shape);

/// The shape of all local matrices as they are made, in double precision: one a batch.
kg_locals kg_shape_made_locals(const kg_shape *shape);
/// The most numbers that one of them has.
size_t kg_shape_most_local_rows(const kg_shape *shape);
/// Return the layout and sizes of the local matrices that the trace solve reads: the computed ones
/// or, with precision = compact, their copies in single precision.
kg_locals kg_shape_locals(const kg_shape *shape);
/// Return the layout of the full local matrices of operator = matrix-free-plain. One array holds
/// those of all batches, including the unused lanes between batches.
kg_local kg_shape_full_local(const kg_shape *shape);

/// The kinds of arrays over elements, [batch][group][row][lane], by what their rows are.
typedef enum kg_rows {
  KG_ROWS_SIDES,
  KG_ROWS_CODES,  ///< words of the codes of sides
  KG_ROWS_MODES,
  KG_ROWS_FLUX,
  KG_ROWS_STAR,
  KG_ROWS_MEANS,
  KG_ROWS_NODES,  ///< x and y of the nodes of curved elements
  KG_ROWS_TRACE
} kg_rows;

int kg_batch_rows(const kg_shape_batch *batch, kg_rows rows);
/// Numbers of such an array in its first n batches: where the next one begins, or all.
size_t kg_shape_numbers(const kg_shape *shape, kg_rows rows, int n);
/// The most rows of a batch, for arrays of a chunk.
size_t kg_shape_most_rows(const kg_shape *shape, kg_rows rows);
/// Lanes of the groups that are handled at once where local solutions are held.
static inline size_t kg_shape_chunk_lanes(const kg_shape *shape)
{
  return (size_t)KG_LANES * (size_t)shape->choice.recover_groups;
}
/// Fill in the sizes of work that the backend says: those that depend on `count`.
kedge_status kg_shape_work(kedge_context *ctx, kg_shape *shape);

/// Return the number of groups in a chunk with precision = compact. A chunk is whole patches: as
/// many as fit into the memory of the vectors r and A p, but at least 16 MiB, which keep a GPU
/// busy, or a tenth of a small mesh, which then still takes less memory than in double precision.
int32_t kg_compact_groups(const kg_shape *shape);
