#include "device/backend.h"

#include "device/context.h"

kedge_status kg_enter(kedge_context *ctx)
{
  return ctx->table->enter(ctx);
}

kedge_status kg_alloc(kedge_context *ctx, size_t count, size_t size, kg_buffer *out)
{
  *out = (kg_buffer){0};
  size_t bytes;
  const bool overflow = __builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2;
  KG_REQUIRE(ctx, !overflow, KEDGE_ERR_MEMORY, "an array of %zu times %zu bytes fits no memory",
             count, size);
  bytes = kg_rounded(bytes);
  if (bytes == 0) bytes = KG_ALIGNMENT;
  KG_TRY(ctx->table->alloc(ctx, bytes, &out->data));
  out->bytes = bytes;
  // Threads that read solutions allocate beside a solve.
  const int64_t now = __atomic_add_fetch(&ctx->bytes_in_use, (int64_t)bytes, __ATOMIC_RELAXED);
  if (now > ctx->bytes_peak) ctx->bytes_peak = now;
  return KEDGE_OK;
}

void kg_free(kedge_context *ctx, kg_buffer *buffer)
{
  if (buffer->data == NULL) return;
  ctx->table->free(ctx, buffer->data, buffer->bytes);
  __atomic_sub_fetch(&ctx->bytes_in_use, (int64_t)buffer->bytes, __ATOMIC_RELAXED);
  *buffer = (kg_buffer){0};
}

kedge_status kg_upload(kedge_context *ctx, const void *host, size_t count, size_t size,
                       kg_buffer *out)
{
  KG_TRY(kg_alloc(ctx, count, size, out));
  return kg_copy_in(ctx, out->data, host, count * size);
}

kedge_status kg_copy_in(kedge_context *ctx, void *device, const void *host, size_t bytes)
{
  return bytes ? ctx->table->copy_in(ctx, device, host, bytes) : KEDGE_OK;
}

kedge_status kg_copy_out(kedge_context *ctx, void *host, const void *device, size_t bytes)
{
  return bytes ? ctx->table->copy_out(ctx, host, device, bytes) : KEDGE_OK;
}

kedge_status kg_copy(kedge_context *ctx, void *to, const void *from, size_t bytes)
{
  return bytes ? ctx->table->copy(ctx, to, from, bytes) : KEDGE_OK;
}

kedge_status kg_zero(kedge_context *ctx, void *device, size_t bytes)
{
  return bytes ? ctx->table->zero(ctx, device, bytes) : KEDGE_OK;
}

kedge_status kg_sync(kedge_context *ctx)
{
  return ctx->table->sync(ctx);
}

kedge_status kg_join(kedge_context *ctx, const void *device)
{
  return ctx->table->join(ctx, device);
}

kedge_status kg_repeat_run(kedge_context *ctx, kg_repeat *repeat, int times, kg_repeat_body *body,
                           void *user)
{
  return ctx->table->repeat(ctx, repeat, times, body, user);
}

void kg_repeat_free(kedge_context *ctx, kg_repeat *repeat)
{
  ctx->table->repeat_free(repeat);
  *repeat = (kg_repeat){.stop = repeat->stop};
}

int64_t kg_free_bytes(kedge_context *ctx)
{
  return ctx->table->free_bytes(ctx);
}
