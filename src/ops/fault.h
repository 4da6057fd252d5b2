/// @file
/// Where an operator failed first: one word of device memory, which kernels lower to the number of an
/// edge or element.
#pragma once
#include "backend/backend.h"

#define KG_NO_FAULT INT32_MAX

/// Before the kernels.
static inline kedge_status kg_fault_clear(kedge_context *ctx, int32_t *word)
{
  const int32_t none = KG_NO_FAULT;
  return kg_copy_in(ctx, word, &none, sizeof none);
}

/// After them. Waits for the device.
/// @param[out] fault  KG_NO_FAULT: none
static inline kedge_status kg_fault_read(kedge_context *ctx, const int32_t *word, int32_t *fault)
{
  KG_TRY(kg_copy_out(ctx, fault, word, sizeof *fault));
  return kg_sync(ctx);
}
