/// @file
/// The two ceilings of a machine, measured: how fast it reads memory, and multiplies and adds.
#pragma once
#include "device/backend.h"
#include "device/context.h"
KEDGE_BEGIN_DECLS

typedef struct roofs {
  double read_bytes_per_second;  ///< a sum over an array many times the caches
  double flops_per_second;       ///< double precision, multiply-add counted as two, vector units
} roofs;

kedge_status measure_roofs(kedge_context *ctx, roofs *out);

/// The read bandwidth of a host once more, for a measurement at the same time: a processor is not
/// equally fast at all times.
typedef struct roof_probe {
  kedge_context *ctx;
  kg_buffer array;
  int way;      ///< to read that was fastest when it was opened
  double sink;  ///< keeps the sums
} roof_probe;

kedge_status roof_probe_open(kedge_context *ctx, roof_probe *out);
void roof_probe_close(roof_probe *probe);
double roof_probe_read(roof_probe *probe);  ///< bytes a second of one pass

kedge_status measure_roofs_host(kedge_context *ctx, roofs *out);
kedge_status measure_roofs_cuda(kedge_context *ctx, roofs *out);

KEDGE_END_DECLS
