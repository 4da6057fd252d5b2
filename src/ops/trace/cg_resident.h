/// @file
/// Conjugate gradients of small problems in one kernel: the elements stay on their threads through
/// all iterations, K^e in registers and shared memory (cg_resident.cuh has the layout). Only on a
/// GPU; its specification is the loop of linear/cg.c, whose vectors and state it shares.
///
/// What crosses thread blocks is a *message*: a value and the phase it belongs to, written and read
/// as one word of 16 bytes. Who needs a value polls its message until the phase is there; no other
/// barrier or fence is needed.
#pragma once
#include "ops/vector/cg_vectors.h"
#include "ops/trace/trace_apply.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cg_message {
  double value;
  uint64_t phase;  ///< 2 i + 1: products of iteration i (from 0); 2 i + 2: its residuals
} kg_cg_message;

typedef struct kg_cg_resident_args {
  kg_batch batch;
  kg_local local;              ///< PACKED, in double precision
  kg_cg_vectors_args vectors;  ///< inverse, x, z, p, state
  void *work;                  ///< kg_cg_resident_bytes(), all zero when a solve begins
  int64_t steps;               ///< most iterations of this call
} kg_cg_resident_args;

/// Bytes of work; 0: the backend does not have this form, or the problem is too large for it.
size_t kg_cg_resident_bytes(kedge_context *ctx, int m, const kg_trace_counts *count);
/// Iterate from kg_cg_begin() or from an earlier call: until a stop, at most `steps` times.
kedge_status kg_cg_resident(kedge_context *ctx, const kg_cg_resident_args *args);

size_t kg_cg_resident_bytes_cuda(kedge_context *ctx, int m, const kg_trace_counts *count);
kedge_status kg_cg_resident_cuda(kedge_context *ctx, const kg_cg_resident_args *args);

KEDGE_END_DECLS
