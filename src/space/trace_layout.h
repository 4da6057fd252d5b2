/// @file
/// How trace unknowns are numbered and how elements are cut into patches (docs/layout.md).
///
/// Consecutive elements of one shape form a *batch*. 32 consecutive elements of a batch form a
/// *group*: data of an element lies in its *lane* of the group's arrays, [group][row][lane], so
/// that neighbouring lanes are neighbouring words. Lanes beyond the last element of a batch repeat
/// it; what they compute is never used. `patch_groups` consecutive groups form a *patch*; a batch
/// begins with a patch, and all but the last fill their last patch with groups, the last one its
/// last group. Sides in arrays of the trace are those of *lanes*, counted through all batches; with
/// one batch lane and element are the same number.
///
/// Trace edges are numbered in four sections:
///   1. edges inside a patch, patch by patch: contiguous for each patch,
///   2. edges between two patches,
///   3. boundary edges with a condition on the flux, Neumann or Robin,
///   4. Dirichlet boundary edges, which carry no unknowns.
/// Trace vectors are [trace edge][mode], mode fastest, all four sections long; rows of section 4
/// are zero in residuals and directions and hold the Dirichlet values in the solution.
///
/// Edges of sections 2 to 4 are the *halo* of a patch: each patch has its list of them, and one
/// *halo entry* for each. An edge between two patches has two entries: its row of the product is
/// what its first patch, that of its lower side, puts there and what the second adds.
///
/// The mesh numbers its edges by first appearance along the elements. So the edges that appear
/// first in a patch are consecutive, patches ascend with them, and within a section edges keep the
/// order that they have in the mesh: what each patch adds to each section says all numbers. That is
/// counted here; the arrays that operators read are made from it where they are read
/// (ops/numbering/trace_arrays.h).
#pragma once
#include "core/inline.h"
#include "mesh/mesh.h"
#include "space/side_code.h"
KEDGE_BEGIN_DECLS

typedef enum kg_section {
  KG_SECTION_INSIDE,
  KG_SECTION_SHARED,
  KG_SECTION_NEUMANN,
  KG_SECTION_DIRICHLET,
  KG_SECTION_COUNT
} kg_section;

enum { KG_BATCHES_MAX = 8 };

/// Consecutive elements of one shape in lanes.
typedef struct kg_lane_batch {
  const kg_cell *cell;
  int n_facets;
  int32_t first_element, n_elements;
  int64_t first_side;  ///< place of its first side in the packed arrays of the mesh
  int32_t first_patch, n_patches;
  int32_t first_group, n_groups;
} kg_lane_batch;

typedef struct kg_lane_batches {
  int n;
  int32_t patch_elements;  ///< of a whole patch
  kg_lane_batch batch[KG_BATCHES_MAX];
} kg_lane_batches;

KG_INLINE const kg_lane_batch *kg_batch_of_element(const kg_lane_batches *batches, int32_t e)
{
  const kg_lane_batch *b = batches->batch;
  while (e - b->first_element >= b->n_elements) ++b;
  return b;
}
KG_INLINE const kg_lane_batch *kg_batch_of_patch(const kg_lane_batches *batches, int32_t patch)
{
  const kg_lane_batch *b = batches->batch;
  while (patch - b->first_patch >= b->n_patches) ++b;
  return b;
}
/// The lane of an element, counted through all batches.
KG_INLINE int32_t kg_lane_of(const kg_lane_batches *batches, int32_t e)
{
  const kg_lane_batch *b = kg_batch_of_element(batches, e);
  return b->first_group * KG_LANES + (e - b->first_element);
}
/// The elements first .. end - 1 of a patch.
KG_INLINE void kg_patch_range(const kg_lane_batches *batches, const kg_lane_batch *b, int32_t patch,
                              int32_t *first, int32_t *end)
{
  const int32_t skipped = (patch - b->first_patch) * batches->patch_elements;
  const int32_t left = b->n_elements - skipped;
  *first = b->first_element + skipped;
  *end = *first + (left < batches->patch_elements ? left : batches->patch_elements);
}

/// Shapes of lanes: kg_cell_index(), as device code can hold it.
enum { KG_TRIANGLES, KG_QUADRILATERALS, KG_TETRAHEDRA };

/// Lanes of one shape.
typedef struct kg_lane_run {
  int cell;      ///< shape of their elements
  int n_facets;  ///< of an element, which has as many corners
  int32_t first_lane, n_lanes;
  /// How much further a lane lies in arrays with a number a side, and in `side_codes`, than if all
  /// lanes before it were of this shape too.
  int32_t sides_shift, codes_shift;
} kg_lane_run;

/// All lanes, a run for each shape. Arrays of lanes hold the runs one behind the other. Where there
/// is one shape, the second run is empty and begins behind the last lane.
typedef struct kg_lane_runs {
  kg_lane_run run[2];
} kg_lane_runs;

KG_INLINE kg_lane_runs kg_lanes_of_one_shape(int cell, int n_facets, int32_t n_lanes)
{
  const kg_lane_runs runs = {
      {{cell, n_facets, 0, n_lanes, 0, 0}, {cell, n_facets, n_lanes, 0, 0, 0}}};
  return runs;
}
/// Find the run of a lane. The cost is one comparison.
KG_INLINE kg_lane_run kg_run_of_lane(const kg_lane_runs *lanes, int32_t lane)
{
  kg_lane_run run = lanes->run[0];
  if (lane >= lanes->run[1].first_lane) run = lanes->run[1];
  return run;
}
/// Whether facets run from corner to corner, from the lower vertex or reversed. Others look the
/// same from both sides.
KG_INLINE bool kg_run_has_directions(kg_lane_run run)
{
  return run.cell <= KG_QUADRILATERALS;
}
KG_INLINE int32_t kg_lanes_of(const kg_lane_runs *lanes, int cell)
{
  int32_t n = 0;
  for (int i = 0; i < 2; ++i)
    if (lanes->run[i].cell == cell) n += lanes->run[i].n_lanes;
  return n;
}
KG_INLINE bool kg_has_lanes_of(const kg_lane_runs *lanes, int cell)
{
  return kg_lanes_of(lanes, cell) > 0;
}
KG_INLINE bool kg_all_lanes_are(const kg_lane_runs *lanes, int cell)
{
  return lanes->run[0].cell == cell && lanes->run[1].n_lanes == 0;
}
/// Modes of a facet of a cell, which is m. All facets of a mesh have as many.
static inline int kg_facet_modes(const kg_cell *cell, int order)
{
  return cell->facet->n_modes(order);
}

/// Return the most facets of an element.
KG_INLINE int kg_most_facets(const kg_lane_runs *lanes)
{
  const int first = lanes->run[0].n_facets, second = lanes->run[1].n_facets;
  return first > second ? first : second;
}
/// Numbers of an array that has one a side of all lanes; words of `side_codes`.
KG_INLINE size_t kg_lane_sides(const kg_lane_runs *lanes)
{
  size_t n = 0;
  for (int i = 0; i < 2; ++i) n += (size_t)lanes->run[i].n_lanes * (size_t)lanes->run[i].n_facets;
  return n;
}
KG_INLINE size_t kg_lane_codes(const kg_lane_runs *lanes)
{
  size_t n = 0;
  for (int i = 0; i < 2; ++i)
    n += (size_t)lanes->run[i].n_lanes * (size_t)kg_code_words(lanes->run[i].n_facets);
  return n;
}

/// Counts that kernels and predictions need, of all batches.
typedef struct kg_trace_counts {
  int32_t n_elements, n_groups, n_patches, patch_groups;
  kg_lane_runs lanes;
  int64_t n_sides;     ///< of all elements
  int32_t n_edges;     ///< all sections
  int32_t n_interior;  ///< section 1
  int32_t n_shared;    ///< section 2
  int32_t n_neumann;   ///< section 3
  int32_t n_free;      ///< sections 1 to 3: edges with unknowns
  int32_t n_halo;      ///< halo entries of all patches
  int32_t max_local;   ///< most edges of one patch, inside and halo
  int32_t max_halo;    ///< most halo entries of one patch
} kg_trace_counts;

/// Arrays in device memory that operators read.
typedef struct kg_trace_arrays {
  kg_lane_runs lanes;          ///< as in kg_trace_counts
  const double *vertices;      ///< [vertex][2]
  const int32_t *vertex;       ///< [group][n_facets][lane]: vertices of an element
  const uint32_t *side_edge;   ///< [group][n_facets][lane]: trace edge << 1 | reversed
  const uint32_t *side_codes;  ///< [group][lane][kg_code_words()]: where products go
                               ///< (space/side_code.h)
  const int32_t *patch_edge;   ///< [patch + 1]: first trace edge inside the patch
  const int32_t *patch_halo;   ///< [patch + 1]: first halo entry
  /// [halo entry]: trace edge << 1 | the patch is the edge's second
  const uint32_t *halo_edge;
  /// [trace edge][2]: sides of lanes, lower first; second KG_NO_SIDE on the boundary
  const kg_side *edge_sides;
} kg_trace_arrays;

KG_INLINE int kg_facets_of_lane(const kg_trace_arrays *arrays, int32_t lane)
{
  return kg_run_of_lane(&arrays->lanes, lane).n_facets;
}
/// The place of row k of facet l of a lane in an array of all lanes, [group][n_facets][m][lane].
KG_INLINE int64_t kg_facet_row(const kg_trace_arrays *arrays, int m, int32_t lane, int l, int k)
{
  const kg_lane_run run = kg_run_of_lane(&arrays->lanes, lane);
  const int64_t facet = (int64_t)(lane / KG_LANES) * run.n_facets + l;
  return (int64_t)run.sides_shift * m + (facet * m + k) * KG_LANES + lane % KG_LANES;
}
/// The place of facet l of a lane in `vertex` and `side_edge`; below, the place of a side.
KG_INLINE int64_t kg_facet_at(const kg_trace_arrays *arrays, int32_t lane, int l)
{
  return kg_facet_row(arrays, 1, lane, l, 0);
}
KG_INLINE int64_t kg_side_at(const kg_trace_arrays *arrays, kg_side side)
{
  return kg_facet_at(arrays, kg_side_element(side), kg_side_facet(side));
}
/// The place of a lane's first word in `side_codes`.
KG_INLINE int64_t kg_codes_at(const kg_trace_arrays *arrays, int32_t lane)
{
  const kg_lane_run run = kg_run_of_lane(&arrays->lanes, lane);
  return (int64_t)lane * kg_code_words(run.n_facets) + run.codes_shift;
}

/// The place of facet l of an element in an array [group][n_facets][lane].
KG_INLINE int64_t kg_lane_side(int n_facets, int32_t e, int l)
{
  return ((int64_t)(e / KG_LANES) * n_facets + l) * KG_LANES + e % KG_LANES;
}

/// The cut of a mesh into patches and sections, in host memory.
typedef struct kg_trace_layout {
  kg_trace_counts count;
  kg_lane_batches batches;
  uint8_t *edge_section;  ///< [mesh edge]: a kg_section
  /// [section][patch + 1]: trace edge of the section that appears first in the patch or, when it
  /// has none, in a later one; the last is the section's end
  int32_t *section_first;
  int32_t *patch_halo;  ///< [patch + 1]: first halo entry
} kg_trace_layout;

/// A batch of each shape, and more: element cut[i], ascending, begins one.
/// @param[in] is_dirichlet  [mesh group]: condition of the boundary edges of a group
/// @param[in] patch_groups  groups a patch, 1 to KG_PATCH_GROUPS_MAX
/// @param[in] cut           [n_cuts]
kedge_status kg_trace_layout_create(kedge_context *ctx, const kedge_mesh *mesh,
                                    const bool *is_dirichlet, int patch_groups, int n_cuts,
                                    const int32_t *cut, kg_trace_layout *out);
void kg_trace_layout_free(kg_trace_layout *layout);

/// Counts of a larger mesh of the same form instead of those of a cut, whose arrays are freed. What
/// elements and boundary say is exact; the halo grows with the elements, as patches have the same
/// outlines, and the other sections follow from it.
/// @param[in] n_elements      [batch] of the larger mesh
/// @param[in] rim, grown_rim  the boundary edges of each group grow in this proportion
void kg_trace_layout_grow(kg_trace_layout *layout, const int32_t *n_elements, int64_t rim,
                          int64_t grown_rim);

/// The row of `section_first` of a section.
static inline const int32_t *kg_section_first(const kg_trace_layout *layout, kg_section section)
{
  return layout->section_first + (size_t)section * ((size_t)layout->count.n_patches + 1);
}

/// The mesh edges of sections 3 and 4 in the order of their trace edges; the caller frees *out.
kedge_status kg_trace_boundary(kedge_context *ctx, const kg_trace_layout *layout, int32_t **out);

KEDGE_END_DECLS
