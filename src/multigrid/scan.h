/// @file
/// Where rows begin: begin[i] = length[0] + ... + length[i - 1].
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// @param[in]  length  [n], in device memory
/// @param[out] begin   [n + 1], in device memory
/// @param[out] total   begin[n], on the host
kedge_status kg_scan(kedge_context *ctx, const int32_t *length, int32_t n, int64_t *begin,
                     int64_t *total);

kedge_status kg_scan_host(kedge_context *ctx, const int32_t *length, int32_t n, int64_t *begin);
kedge_status kg_scan_cuda(kedge_context *ctx, const int32_t *length, int32_t n, int64_t *begin);

KEDGE_END_DECLS
