/// @file
/// A mesh in batches and patches, and its trace, as every equation on it shares them. A space is
/// made from counts alone; its arrays lie in the plan of who uses it.
#pragma once
#include "ops/numbering/trace_arrays.h"
#include "space/edge_lines.h"
#include "space/shared_layout.h"
KEDGE_BEGIN_DECLS

/// What operators read of the mesh in device memory; see kg_trace_arrays.
typedef struct kg_space_arrays {
  kg_connectivity connectivity;
  double *vertices;
  int32_t *vertex;
  int32_t *regions;  ///< [element] of the mesh; NULL: nobody reads them
  uint32_t *side_edge;
  kg_side *edge_sides;
  uint32_t *side_codes;  ///< NULL, as what follows: there is no product by patches
  int32_t *patch_edge, *patch_halo;
  uint32_t *halo_edge;
} kg_space_arrays;

/// Phases of a plan in which arrays live, and which of them there are.
typedef struct kg_space_use {
  int dimension;               ///< of the mesh
  unsigned making;             ///< the connectivity, of which the others are made
  unsigned all;                ///< all but the next two
  unsigned sides, edge_sides;  ///< of elements, of edges
  bool has_patches, has_regions;
} kg_space_use;

typedef struct kg_space {
  kg_shared_layout *cut;      ///< which solutions share
  bool *is_dirichlet;         ///< [mesh group], by which the trace was cut
  const kedge_mesh *refined;  ///< the mesh, if multigrid uses the levels of its refinement; or NULL
  kg_edge_lines lines;        ///< of smoothers that have lines, until assembly
  kg_batch batch;             ///< pointers into arrays, of all lanes
  bool is_affine;             ///< all quadrilaterals are parallelograms
  bool is_cut_as_before;      ///< as that of an earlier space of this mesh
  bool has_mesh;              ///< in device memory, and tables
} kg_space;

/// Cut the mesh, or share the cut of a space of the same mesh, patches and conditions.
/// @param[in]  patch_groups  groups a patch
/// @param[in]  is_dirichlet  [mesh group], which the space takes over, also after a failure
/// @param[in]  before        NULL: there is none
/// @param[out] space         kg_space_free(), also after a failure
kedge_status kg_space_create(kedge_context *ctx, const kedge_mesh *mesh, int patch_groups,
                             bool *is_dirichlet, const kg_space *before, kg_space *space);
void kg_space_free(kg_space *space);

void kg_space_declare(kg_plan *plan, const kg_trace_counts *count, int64_t n_vertices,
                      const kg_space_use *use, kg_space_arrays *arrays);
/// Bring the connectivity and vertices to the arrays, and have the device make the others.
kedge_status kg_space_put(kedge_context *ctx, const kedge_mesh *mesh, const kg_space *space,
                          const kg_space_arrays *arrays);
/// Point `batch` to the arrays.
/// @param[in] m          modes of a facet
/// @param[in] reference  in device memory (kg_reference_at())
void kg_space_view(kg_space *space, const kg_space_arrays *arrays, int m, kg_reference reference);

KEDGE_END_DECLS
