#include "mesh/mesh.h"

#include "core/memory.h"

/// The first element of the tree of e. Paths are halved on the way, so trees stay flat.
static int32_t root_of(int32_t *parent, int32_t e)
{
  while (parent[e] != e) {
    parent[e] = parent[parent[e]];
    e = parent[e];
  }
  return e;
}

/// Trees of elements are joined at every edge inside the domain. The higher root always hangs
/// under the lower one, so a parent is a lower number: one pass upwards turns trees into numbers,
/// in place. Edges and elements are numbered alike along the curve, so nearly every access is near
/// the one before.
kedge_status kg_mesh_parts(kedge_context *ctx, const kedge_mesh *mesh, int32_t **part,
                           int32_t *n_parts)
{
  *n_parts = 0;
  KG_TRY(kg_host_alloc(ctx, (size_t)mesh->n_elements, sizeof **part, part));
  int32_t *parent = *part;
  for (int32_t e = 0; e < mesh->n_elements; ++e) parent[e] = e;
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side *side = mesh->edge_sides + 2 * edge;
    if (side[1] == KG_NO_SIDE) continue;
    const int32_t a = root_of(parent, kg_side_element(side[0]));
    const int32_t b = root_of(parent, kg_side_element(side[1]));
    parent[a > b ? a : b] = a < b ? a : b;
  }
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    parent[e] = parent[e] == e ? (*n_parts)++ : parent[parent[e]];
  return KEDGE_OK;
}
