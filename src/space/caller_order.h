/// @file
/// The caller's order of elements in device memory.
#pragma once
#include "device/backend.h"
#include "mesh/mesh.h"

/// Bring to the device the caller's number of each element, and on meshes of both shapes, behind
/// these, how many quadrilaterals are before each in the caller's order.
/// @param[out] order  int32_t [element], or [2][element]
kedge_status kg_caller_order_upload(kedge_context *ctx, const kedge_mesh *mesh, kg_buffer *order);
/// Its bytes.
static inline int64_t kg_caller_order_bytes(const kedge_mesh *mesh)
{
  const size_t n = (size_t)mesh->info.elements * (mesh->n_blocks > 1 ? 2 : 1);
  return (int64_t)kg_rounded(n * sizeof(int32_t));
}
