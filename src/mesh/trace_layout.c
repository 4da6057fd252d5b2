#include "mesh/trace_layout.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"

/// Writable names of what the layout's const pointers show, while it is being built.
typedef struct builder {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  const bool *is_dirichlet;
  kg_trace_counts n;
  int32_t patch_elements;
  int32_t *trace_of_edge;  ///< [mesh edge]
  int32_t *mesh_edge, *vertex, *patch_edge, *patch_halo, *halo_edge, *edge_entries, *edge_sides;
  uint32_t *side_edge, *side_codes;
} builder;

static int32_t patch_of_side(const builder *b, int32_t side)
{
  return side / 3 / b->patch_elements;
}

enum section { INSIDE, SHARED, NEUMANN, DIRICHLET };

static enum section section_of(const builder *b, int32_t edge)
{
  const int32_t *sides = b->mesh->edge_sides + 2 * (size_t)edge;
  if (sides[1] < 0) return b->is_dirichlet[b->mesh->edge_group[edge]] ? DIRICHLET : NEUMANN;
  return patch_of_side(b, sides[0]) == patch_of_side(b, sides[1]) ? INSIDE : SHARED;
}

/// Mesh edges are numbered by first appearance along the elements, so the edges inside a patch
/// already lie in patch order and only the sections have to be pulled apart. Edges inside patches
/// are counted into patch_edge.
static void number_edges(builder *b)
{
  const int32_t n_edges = b->mesh->n_edges;
  int32_t size[4] = {0};
  for (int32_t edge = 0; edge < n_edges; ++edge) ++size[section_of(b, edge)];
  int32_t next[4] = {0, size[0], size[0] + size[1], size[0] + size[1] + size[2]};
  b->n.n_interior = size[INSIDE];
  b->n.n_shared = size[SHARED];
  b->n.n_neumann = size[NEUMANN];
  b->n.n_free = n_edges - size[DIRICHLET];
  for (int32_t edge = 0; edge < n_edges; ++edge) {
    const int32_t *sides = b->mesh->edge_sides + 2 * (size_t)edge;
    const enum section section = section_of(b, edge);
    const int32_t trace = next[section]++;
    b->trace_of_edge[edge] = trace;
    b->mesh_edge[trace] = edge;
    b->edge_sides[2 * (size_t)trace] = sides[0];
    b->edge_sides[2 * (size_t)trace + 1] = sides[1];
    if (section == INSIDE) ++b->patch_edge[patch_of_side(b, sides[0]) + 1];
  }
  for (int32_t p = 0; p < b->n.n_patches; ++p) b->patch_edge[p + 1] += b->patch_edge[p];
}

/// Interleaved copies of the connectivity; empty lanes repeat the last element.
static void fill_groups(builder *b)
{
  const kedge_mesh *mesh = b->mesh;
#pragma omp parallel for schedule(static) num_threads(b->ctx->threads)
  for (int32_t group = 0; group < b->n.n_groups; ++group)
    for (int lane = 0; lane < KG_LANES; ++lane) {
      int32_t e = group * KG_LANES + lane;
      if (e >= mesh->n_elements) e = mesh->n_elements - 1;
      for (int l = 0; l < 3; ++l) {
        const size_t to = ((size_t)group * 3 + l) * KG_LANES + lane;
        const uint32_t side = mesh->side_edge[3 * (size_t)e + l];
        b->vertex[to] = mesh->element_vertices[3 * (size_t)e + l];
        b->side_edge[to] = (uint32_t)b->trace_of_edge[side >> 1] << 1 | (side & 1u);
      }
    }
}

/// Upper bound of the halo entries: sides whose edge is not inside a patch.
static int32_t count_halo(const builder *b)
{
  const kg_trace_counts *n = &b->n;
  return 2 * n->n_shared + n->n_neumann + (n->n_edges - n->n_free);
}

/// Walk the sides of every patch: list its halo in order of appearance and note for every side
/// which edge of the patch it is, and whether the other side came before. All edges of sections 2
/// to 4 have one side in a patch.
static void fill_halo(builder *b)
{
  static const uint32_t digit[3] = {1, KG_SIDE_CODES, KG_SIDE_CODES * KG_SIDE_CODES};
  int32_t entry = 0;
  for (int32_t p = 0; p < b->n.n_patches; ++p) {
    const int32_t first = p * b->patch_elements, first_edge = b->patch_edge[p];
    const int32_t n_inside = b->patch_edge[p + 1] - first_edge;
    int32_t last = first + b->patch_elements;
    if (last > b->mesh->n_elements) last = b->mesh->n_elements;
    b->patch_halo[p] = entry;
    for (int32_t side = 3 * first; side < 3 * last; ++side) {
      const int32_t trace = b->trace_of_edge[b->mesh->side_edge[side] >> 1];
      int32_t local = trace - first_edge, second = b->edge_sides[2 * (size_t)trace] != side;
      if (trace >= b->n.n_interior) {
        local = n_inside + (entry - b->patch_halo[p]);
        second = 0;
        b->halo_edge[entry] = trace;
        if (trace < b->n.n_free) {
          int32_t *of_edge = b->edge_entries + 2 * ((size_t)trace - (size_t)b->n.n_interior);
          of_edge[of_edge[0] >= 0] = entry;
        }
        ++entry;
      }
      b->side_codes[side / 3] += (uint32_t)(2 * local + second) * digit[side % 3];
    }
  }
  b->patch_halo[b->n.n_patches] = entry;
}

static void find_largest_patch(builder *b)
{
  for (int32_t p = 0; p < b->n.n_patches; ++p) {
    const int32_t n_halo = b->patch_halo[p + 1] - b->patch_halo[p];
    const int32_t n_local = b->patch_edge[p + 1] - b->patch_edge[p] + n_halo;
    if (n_local > b->n.max_local) b->n.max_local = n_local;
    if (n_halo > b->n.max_halo) b->n.max_halo = n_halo;
  }
}

/// Empty lanes read edges that exist.
static void pad_last_group(builder *b)
{
  for (int32_t e = b->n.n_elements; e < b->n.n_groups * KG_LANES; ++e)
    b->side_codes[e] = b->side_codes[b->n.n_elements - 1];
}

static void show(const builder *b, kg_trace_layout *out)
{
  out->count = b->n;
  out->mesh_edge = b->mesh_edge;
  out->n_vertices = b->mesh->n_vertices;
  out->host = (kg_trace_arrays){
      .vertices = b->mesh->vertices,
      .vertex = b->vertex,
      .side_edge = b->side_edge,
      .side_codes = b->side_codes,
      .patch_edge = b->patch_edge,
      .patch_halo = b->patch_halo,
      .halo_edge = b->halo_edge,
      .edge_entries = b->edge_entries,
      .edge_sides = b->edge_sides,
  };
}

static kedge_status allocate_edges(builder *b)
{
  const size_t n_edges = (size_t)b->n.n_edges, n_patches = (size_t)b->n.n_patches;
  KG_TRY(kg_host_alloc(b->ctx, n_edges, sizeof(int32_t), &b->trace_of_edge));
  KG_TRY(kg_host_alloc(b->ctx, n_edges, sizeof(int32_t), &b->mesh_edge));
  KG_TRY(kg_host_alloc(b->ctx, 2 * n_edges, sizeof(int32_t), &b->edge_sides));
  KG_TRY(kg_host_calloc(b->ctx, n_patches + 1, sizeof(int32_t), &b->patch_edge));
  return kg_host_alloc(b->ctx, n_patches + 1, sizeof(int32_t), &b->patch_halo);
}

static kedge_status allocate_sides(builder *b)
{
  const size_t n_sides = 3 * KG_LANES * (size_t)b->n.n_groups;
  const size_t n_summed = (size_t)(b->n.n_shared + b->n.n_neumann);
  KG_TRY(kg_host_alloc(b->ctx, n_sides, sizeof(int32_t), &b->vertex));
  KG_TRY(kg_host_alloc(b->ctx, n_sides, sizeof(uint32_t), &b->side_edge));
  KG_TRY(kg_host_calloc(b->ctx, n_sides / 3, sizeof(uint32_t), &b->side_codes));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)b->n.n_halo, sizeof(int32_t), &b->halo_edge));
  KG_TRY(kg_host_alloc(b->ctx, 2 * n_summed, sizeof(int32_t), &b->edge_entries));
  memset(b->edge_entries, 0xff, 2 * n_summed * sizeof(int32_t));  // -1
  return KEDGE_OK;
}

static kedge_status build(builder *b)
{
  KG_TRY(allocate_edges(b));
  number_edges(b);
  b->n.n_halo = count_halo(b);
  KG_TRY(allocate_sides(b));
  fill_groups(b);
  fill_halo(b);
  find_largest_patch(b);
  pad_last_group(b);
  return KEDGE_OK;
}

kedge_status kg_trace_layout_create(kedge_context *ctx, const kedge_mesh *mesh,
                                    const bool *is_dirichlet, int patch_groups,
                                    kg_trace_layout *out)
{
  *out = (kg_trace_layout){0};
  KG_REQUIRE(ctx, patch_groups >= 1 && patch_groups <= KG_PATCH_GROUPS_MAX, KEDGE_ERR_INTERNAL,
             "a patch of %d groups", patch_groups);
  const int32_t n_groups = (mesh->n_elements + KG_LANES - 1) / KG_LANES;
  builder b = {.ctx = ctx,
               .mesh = mesh,
               .is_dirichlet = is_dirichlet,
               .patch_elements = patch_groups * KG_LANES,
               .n = {.n_elements = mesh->n_elements,
                     .n_groups = n_groups,
                     .n_patches = (n_groups + patch_groups - 1) / patch_groups,
                     .patch_groups = patch_groups,
                     .n_edges = mesh->n_edges}};
  const kedge_status status = build(&b);
  free(b.trace_of_edge);
  show(&b, out);
  if (status != KEDGE_OK) kg_trace_layout_free(out);
  return status;
}

void kg_trace_layout_free(kg_trace_layout *layout)
{
  const kg_trace_arrays *a = &layout->host;
  const void *const owned[] = {a->vertex,       a->side_edge,  a->side_codes,
                               a->patch_edge,   a->patch_halo, a->halo_edge,
                               a->edge_entries, a->edge_sides, layout->mesh_edge};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) free((void *)owned[i]);
  *layout = (kg_trace_layout){0};
}
