#include "ops/numbering/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"

/// Whether all quadrilaterals are parallelograms, where the adjusted flux has its full order, but
/// for 1e-10 of their heights.
static bool has_parallelograms(const kedge_mesh *mesh)
{
  const int32_t n = kg_mesh_quadrilaterals(mesh);
  if (mesh->geometry > 1) return n == 0;
  for (int32_t e = mesh->n_elements - n; e < mesh->n_elements; ++e) {
    const int32_t *v = kg_element_vertices(mesh, e);
    double gap = 0.0, size = 0.0, diagonal[2][2];
    for (int k = 0; k < 2; ++k) {
      double x[4];
      for (int l = 0; l < 4; ++l) x[l] = mesh->vertices[2 * (int64_t)v[l] + k];
      gap = fmax(gap, fabs(x[0] - x[1] + x[2] - x[3]));
      for (int d = 0; d < 2; ++d) {
        diagonal[d][k] = x[2 + d] - x[d];
        size = fmax(size, fabs(diagonal[d][k]));
      }
    }
    const double twice_area = diagonal[0][0] * diagonal[1][1] - diagonal[0][1] * diagonal[1][0];
    if (gap * size > 1e-10 * twice_area) return false;
  }
  return true;
}

kedge_status kg_space_create(kedge_context *ctx, const kedge_mesh *mesh, int patch_groups,
                             bool *is_dirichlet, const kg_space *before, kg_space *space)
{
  const size_t n = (size_t)mesh->n_groups * sizeof *is_dirichlet;
  kg_trace_layout layout;
  *space = (kg_space){.is_dirichlet = is_dirichlet, .is_affine = has_parallelograms(mesh)};
  space->is_cut_as_before = before && before->cut->layout.count.patch_groups == patch_groups &&
                            memcmp(before->is_dirichlet, is_dirichlet, n) == 0;
  if (space->is_cut_as_before) {
    space->cut = kg_layout_use(before->cut);
    return KEDGE_OK;
  }
  KG_TRY(kg_trace_layout_create(ctx, mesh, is_dirichlet, patch_groups, ctx->n_cuts, ctx->cuts,
                                &layout));
  return kg_layout_share(ctx, &layout, &space->cut);
}

void kg_space_free(kg_space *space)
{
  kg_edge_lines_free(&space->lines);
  kg_layout_leave(&space->cut);
  free(space->is_dirichlet);
  *space = (kg_space){0};
}

void kg_space_declare(kg_plan *plan, const kg_trace_counts *n, int64_t n_vertices,
                      const kg_space_use *use, kg_space_arrays *a)
{
  const size_t i = sizeof(int32_t), sides = kg_lane_sides(&n->lanes);
  const size_t codes = kg_lane_codes(&n->lanes);
  const size_t begins = use->has_patches ? (size_t)n->n_patches + 1 : 0;
  kg_connectivity_declare(plan, n, use->making, &a->connectivity);
  kg_plan_array(plan, "vertices", (size_t)use->dimension * (size_t)n_vertices, sizeof *a->vertices,
                use->all, &a->vertices);
  kg_plan_array(plan, "corners", sides, i, use->all, &a->vertex);
  kg_plan_array(plan, "regions", use->has_regions ? (size_t)n->n_elements : 0, i, use->all,
                &a->regions);
  kg_plan_array(plan, "sides of elements", sides, i, use->sides, &a->side_edge);
  kg_plan_array(plan, "sides of edges", 2 * (size_t)n->n_edges, sizeof(kg_side), use->edge_sides,
                &a->edge_sides);
  kg_plan_array(plan, "codes of sides", use->has_patches ? codes : 0, i, use->all, &a->side_codes);
  kg_plan_array(plan, "edges of patches", begins, i, use->all, &a->patch_edge);
  kg_plan_array(plan, "halos of patches", begins, i, use->all, &a->patch_halo);
  kg_plan_array(plan, "edges of the halo", use->has_patches ? (size_t)n->n_halo : 0, i, use->all,
                &a->halo_edge);
}

static kedge_status put(kedge_context *ctx, void *array, const void *host, size_t bytes)
{
  return array ? kg_copy_in(ctx, array, host, bytes) : KEDGE_OK;
}

kedge_status kg_space_put(kedge_context *ctx, const kedge_mesh *mesh, const kg_space *space,
                          const kg_space_arrays *a)
{
  const kg_trace_layout *layout = &space->cut->layout;
  const size_t begins = ((size_t)layout->count.n_patches + 1) * sizeof *a->patch_edge;
  KG_TRY(kg_connectivity_put(ctx, mesh, layout, &a->connectivity));
  KG_TRY(put(ctx, a->vertices, mesh->vertices,
             (size_t)mesh->dimension * (size_t)mesh->n_vertices * sizeof *a->vertices));
  KG_TRY(put(ctx, a->regions, mesh->element_region, (size_t)mesh->n_elements * sizeof *a->regions));
  KG_TRY(put(ctx, a->patch_edge, kg_section_first(layout, KG_SECTION_INSIDE), begins));
  KG_TRY(put(ctx, a->patch_halo, layout->patch_halo, begins));
  kg_trace_arrays_args args = {.count = layout->count,
                               .batches = layout->batches,
                               .mesh = a->connectivity,
                               .edge_sides = a->edge_sides,
                               .patch_halo = a->patch_halo,
                               .halo_edge = a->halo_edge};
  size_t sides = 0, codes = 0;
  for (int i = 0; i < layout->batches.n; ++i) {
    const kg_lane_batch *b = &layout->batches.batch[i];
    const size_t lanes = (size_t)b->n_groups * KG_LANES;
    args.lanes[i] = (kg_lane_arrays){a->vertex + sides, a->side_edge + sides,
                                     a->side_codes ? a->side_codes + codes : NULL};
    sides += lanes * (size_t)b->n_facets;
    codes += lanes * (size_t)kg_code_words(b->n_facets);
  }
  return kg_trace_arrays_fill(ctx, &args);
}

void kg_space_view(kg_space *space, const kg_space_arrays *a, int m, kg_reference reference)
{
  const kg_trace_counts *count = &space->cut->layout.count;
  space->batch = (kg_batch){.m = m,
                            .count = *count,
                            .arrays = {.lanes = count->lanes,
                                       .vertices = a->vertices,
                                       .vertex = a->vertex,
                                       .side_edge = a->side_edge,
                                       .side_codes = a->side_codes,
                                       .patch_edge = a->patch_edge,
                                       .patch_halo = a->patch_halo,
                                       .halo_edge = a->halo_edge,
                                       .edge_sides = a->edge_sides},
                            .reference = reference};
}
