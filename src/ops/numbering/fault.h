/// @file
/// The place where an operator failed first: one word of device memory, which kernels lower to the
/// number of an edge, an element or an unknown.
#pragma once
#include "device/backend.h"
#include "ops/numbering/trace_arrays.h"

#define KG_NO_FAULT INT32_MAX

/// Call this before the kernels, with the word that they lower.
static inline kedge_status kg_fault_clear(kedge_context *ctx, int32_t *word)
{
  const int32_t none = KG_NO_FAULT;
  return kg_copy_in(ctx, word, &none, sizeof none);
}

/// Read the word after the kernels. Waits for the device.
/// @param[out] fault  KG_NO_FAULT: none
static inline kedge_status kg_fault_read(kedge_context *ctx, const int32_t *word, int32_t *fault)
{
  return kg_copy_out(ctx, fault, word, sizeof *fault);
}

/// The coordinates of the vertex where a side begins (0) or ends (1), as its element runs, for a
/// sentence.
kedge_status kg_fault_end(kedge_context *ctx, const kg_trace_arrays *arrays, kg_side side, int end,
                          double at[2]);
/// Likewise those of a corner of a facet in space (ops/numbering/facet_corners.h).
kedge_status kg_fault_corner(kedge_context *ctx, const kg_trace_arrays *arrays, kg_side side,
                             int corner, double at[3]);
