/// @file
/// Host memory for copies to and from a GPU: on the NUMA node next to it, and page-locked.
#pragma once
#include "core/error.h"
KEDGE_BEGIN_DECLS

/// Zero-initialise; kg_pinned_free() sets it back to zero.
typedef struct kg_pinned {
  void *data;  ///< page-aligned, filled with zeros
  size_t bytes;
  bool locked;  ///< registered with CUDA: copies run at full speed and asynchronously
} kg_pinned;

/// Memory that cannot be placed or locked is still memory: copies are slower, nothing else.
/// @param[in] gpu  CUDA device; -1: plain memory, neither placed nor locked
/// @retval KEDGE_ERR_MEMORY  there is not so much memory
kedge_status kg_pinned_alloc(kedge_context *ctx, int gpu, size_t bytes, kg_pinned *out);
void kg_pinned_free(kg_pinned *memory);

KEDGE_END_DECLS
