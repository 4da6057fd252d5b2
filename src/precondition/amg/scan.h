/// @file
/// A scan finds where rows begin: begin[i] = length[0] + ... + length[i - 1].
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
#include "precondition/amg/arena.h"
KEDGE_BEGIN_DECLS

/// Rows in the making. It serves all matrices of a level, one after another.
typedef struct kg_scan_work {
  int32_t *length;  ///< [row]
  int64_t *begin;   ///< [row + 1]
  void *scratch;
  size_t scratch_bytes;
} kg_scan_work;

/// @param[in] arena  takes the work of n rows, which is enough for fewer
kedge_status kg_scan_take(kedge_context *ctx, kg_arena *arena, int32_t n, kg_scan_work *out);
/// @param[out] total  begin[n], on the host
kedge_status kg_scan(kedge_context *ctx, const kg_scan_work *work, int32_t n, int64_t *total);

kedge_status kg_scan_bytes_cuda(kedge_context *ctx, int32_t n, size_t *bytes);
kedge_status kg_scan_cuda(kedge_context *ctx, const kg_scan_work *work, int32_t n);

KEDGE_END_DECLS
