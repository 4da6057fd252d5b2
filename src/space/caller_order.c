#include "space/caller_order.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

kedge_status kg_caller_order_upload(kedge_context *ctx, const kedge_mesh *mesh, kg_buffer *out)
{
  const size_t n = (size_t)mesh->n_elements;
  int32_t *order, *quads;
  if (mesh->n_blocks == 1) return kg_upload(ctx, mesh->element_origin, n, sizeof *order, out);
  KG_TRY(kg_host_calloc(ctx, 2 * n, sizeof *order, &order));
  kedge_status status = kg_host_calloc(ctx, n + 1, sizeof *quads, &quads);
  if (status == KEDGE_OK) {
    memcpy(order, mesh->element_origin, n * sizeof *order);
    for (int b = 0; b < mesh->n_blocks; ++b)
      for (int32_t e = mesh->block[b].first; e < mesh->block[b].first + mesh->block[b].n; ++e)
        quads[mesh->element_origin[e] + 1] = mesh->block[b].cell == &kg_quadrilateral;
    for (size_t i = 0; i < n; ++i) quads[i + 1] += quads[i];
    for (size_t e = 0; e < n; ++e) order[n + e] = quads[mesh->element_origin[e]];
    status = kg_upload(ctx, order, 2 * n, sizeof *order, out);
    free(quads);
  }
  free(order);
  return status;
}
