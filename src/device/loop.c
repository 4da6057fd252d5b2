#include "device/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

kedge_status kg_loop_scratch(kedge_context *ctx, size_t bytes, void *out)
{
  const size_t needed = bytes * (size_t)ctx->threads;
  assert(bytes <= KG_LOOP_SCRATCH);
  if (needed > ctx->scratch_bytes) {
    free(ctx->scratch);
    ctx->scratch_bytes = 0;
    KG_TRY(kg_host_alloc(ctx, needed, 1, &ctx->scratch));
    ctx->scratch_bytes = needed;
  }
  memcpy(out, &ctx->scratch, sizeof ctx->scratch);  // may be the address of any object pointer
  return KEDGE_OK;
}
