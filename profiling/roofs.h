/// @file
/// The two ceilings of a machine, measured: how fast it reads memory and how fast it multiplies and adds.
#pragma once
#include "core/context.h"
KEDGE_BEGIN_DECLS

typedef struct roofs {
  double read_bytes_per_second;  ///< a sum over an array many times the caches
  double flops_per_second;       ///< double precision, multiply-add counted as two, vector units
} roofs;

kedge_status measure_roofs(kedge_context *ctx, roofs *out);

kedge_status measure_roofs_host(kedge_context *ctx, roofs *out);
kedge_status measure_roofs_cuda(kedge_context *ctx, roofs *out);

KEDGE_END_DECLS
