/// @file
/// The trace layout of a mesh with all its arrays in host memory, for tests to look things up in.
#pragma once
#include "space/trace_layout.h"
#include "ops/numbering/trace_arrays.h"

typedef struct test_layout {
  kg_trace_counts count;
  kg_trace_layout cut;
  kg_trace_arrays host;  ///< made by the host; owned, but for the vertices
  int32_t *mesh_edge;    ///< [trace edge]: edge of the mesh
} test_layout;

/// Pieces of memory for the arrays that kg_trace_arrays_fill() writes.
enum { TEST_LAYOUT_ARRAYS = 5 };
/// Bytes of the arrays of the trace: vertex, side_edge, edge_sides, side_codes, halo_edge.
void test_layout_bytes(const kg_trace_counts *count, size_t bytes[TEST_LAYOUT_ARRAYS]);
/// Arguments that write to such pieces, of one batch.
kg_trace_arrays_args test_layout_args(const kg_trace_layout *layout, const kg_connectivity *mesh,
                                      const int32_t *patch_halo,
                                      void *const pieces[TEST_LAYOUT_ARRAYS]);

void test_layout_create(kedge_context *ctx, const kedge_mesh *mesh, const bool *is_dirichlet,
                        int patch_groups, test_layout *out);
void test_layout_free(test_layout *layout);
