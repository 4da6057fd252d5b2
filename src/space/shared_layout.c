#include "space/shared_layout.h"

#include <stdlib.h>

#include "core/memory.h"

kedge_status kg_layout_share(kedge_context *ctx, kg_trace_layout *layout, kg_shared_layout **out)
{
  const kedge_status status = kg_host_calloc(ctx, 1, sizeof **out, out);
  if (status != KEDGE_OK) {
    kg_trace_layout_free(layout);
    return status;
  }
  (*out)->users = 1;
  (*out)->layout = *layout;
  return KEDGE_OK;
}

kg_shared_layout *kg_layout_use(kg_shared_layout *shared)
{
  ++shared->users;
  return shared;
}

void kg_layout_leave(kg_shared_layout **shared)
{
  kg_shared_layout *const it = *shared;
  *shared = NULL;
  if (!it || --it->users > 0) return;
  kg_trace_layout_free(&it->layout);
  free(it);
}
