/// @file
/// Copies between host and device, through two pinned buffers near the GPU: while one travels, the
/// other is filled or emptied.
#pragma once
#include <cuda_runtime.h>
#include <pthread.h>

#include "device/pinned.h"
KEDGE_BEGIN_DECLS

/// Zero-initialise, kg_staging_open(); kg_staging_close().
typedef struct kg_staging {
  kg_pinned buffer[2];
  cudaEvent_t done[2];    ///< the last copy from or to the buffer has ended
  cudaStream_t aside;     ///< of kg_cuda_fetch()
  pthread_mutex_t taken;  ///< who holds it has the buffers
  bool open;
} kg_staging;

kedge_status kg_staging_open(kedge_context *ctx, int device, kg_staging *staging);
void kg_staging_close(kg_staging *staging);

/// The members `copy_in` and `copy_out` of kg_backend_table.
kedge_status kg_cuda_copy_in(kedge_context *ctx, void *device, const void *host, size_t bytes);
kedge_status kg_cuda_copy_out(kedge_context *ctx, void *host, const void *device, size_t bytes);
/// kg_fetch() on a GPU.
kedge_status kg_cuda_fetch(kedge_context *ctx, void *host, const void *device, size_t bytes);

KEDGE_END_DECLS
