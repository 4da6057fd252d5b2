/// @file
/// Where rows begin: begin[i] = length[0] + ... + length[i - 1].
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_scan_args {
  const int32_t *length;  ///< [n]
  int32_t n;
  int64_t *begin;  ///< [n + 1]
  void *work;      ///< kg_scan_work_bytes()
  size_t work_bytes;
} kg_scan_args;

/// Enough for fewer rows too.
kedge_status kg_scan_work_bytes(kedge_context *ctx, int32_t n, size_t *bytes);
/// @param[out] total  begin[n], on the host
kedge_status kg_scan(kedge_context *ctx, const kg_scan_args *args, int64_t *total);

kedge_status kg_scan_work_bytes_cuda(kedge_context *ctx, int32_t n, size_t *bytes);
kedge_status kg_scan_cuda(kedge_context *ctx, const kg_scan_args *args);

KEDGE_END_DECLS
