/// @file
/// What the host backend does, for the shadow backend, which does much of it too.
#pragma once
#include "device/backend.h"

kedge_status kg_host_enter(kedge_context *ctx);
kedge_status kg_host_copy(kedge_context *ctx, void *to, const void *from, size_t bytes);
kedge_status kg_host_zero(kedge_context *ctx, void *device, size_t bytes);
int64_t kg_host_free_bytes(kedge_context *ctx);
kedge_status kg_host_repeat(kedge_context *ctx, kg_repeat *repeat, int times, kg_repeat_body *body,
                            void *user);
void kg_host_repeat_free(kg_repeat *repeat);
void kg_host_close(kedge_context *ctx);
