// A mesh while the GPU builds it: its memory and its steps.
#pragma once

#define CCCL_DISABLE_NVTX  // CUB's own ranges would lie between those of kedge
#include <cub/device/device_radix_sort.cuh>

#include "device/cuda_each.cuh"
#include "mesh/build.h"

namespace kg_build
{
constexpr int BLOCK = 256;
constexpr uint32_t NO_PARTNER = UINT32_MAX;

/// Findings of the kernels, which the host reads.
struct Findings {
  int32_t faults;  // not 0: the host has something to refuse
  int32_t n_parts;
  unsigned long long turned;
};

/// Everything in device memory, in one piece. Raw numbers are the caller's. [side] is a packed
/// array: number 3 e + l in it is side l of triangle e. Sides are known by these numbers here, and
/// become kg_side where edge_sides is written.
struct Work {
  int64_t n_raw_vertices, n_lines;
  int32_t n_elements, n_sides, n_vertices, n_edges;
  double *raw_vertices;       // [raw vertex][2]
  int32_t *raw_triangles;     // [raw element][3]; gone when `rank` is written
  uint32_t *vertex_first;     // [raw vertex]: first place 3 e + k that has it
  int32_t *vertex_number;     // [raw vertex]: number in the mesh, -1 where unused
  double *vertices;           // [vertex][2]
  int32_t *vertex_origin;     // [vertex]
  int32_t *element_origin;    // [element]
  int32_t *element_vertices;  // [element][3]
  uint64_t *key[2];           // [side]: place on the curve, or vertices; sorted, and scratch
  int32_t *value[2];          // [side]: raw element, or side
  int32_t *rank;              // [side]: numbers of vertices, then of edges, in place of triangles
  uint32_t *partner;          // [side]: the other side of its edge, or NO_PARTNER
  uint32_t *side_edge;        // [side]: in place of value[1]
  kg_side *edge_sides;        // [edge][2]: in place of key[1]
  int32_t *lines;             // [raw line][2]
  int32_t *line_edge;         // [raw line]
  Findings *findings;
  void *scratch;  // of CUB
  size_t scratch_bytes;
};

/// Sorts n pairs by the lowest bits of their keys, stable; without scratch, says how many bytes of
/// scratch that takes.
inline cudaError_t sort(void *scratch, size_t *bytes, int32_t n, int bits,
                        cub::DoubleBuffer<uint64_t> *key, cub::DoubleBuffer<int32_t> *value,
                        cudaStream_t stream)
{
  return cub::DeviceRadixSort::SortPairs(scratch, *bytes, *key, *value, n, 0, bits, stream);
}

/// Lay the arrays into `memory`; NULL gives their size alone.
kedge_status lay_out(kedge_context *ctx, const kg_raw_mesh *raw, char *memory, Work *work,
                     size_t *bytes);
/// Bytes of scratch that CUB needs to order elements, and to number edges.
kedge_status order_scratch(kedge_context *ctx, int32_t n_elements, size_t *bytes);
kedge_status edges_scratch(kedge_context *ctx, int32_t n_sides, size_t *bytes);

/// Look for faults and clockwise triangles.
kedge_status check(kedge_context *ctx, const Work &w);
/// Makes vertices, element_vertices and their origins of raw_vertices and raw_triangles.
kedge_status order(kedge_context *ctx, Work *w);
/// Makes side_edge, edge_sides, line_edge and the number of parts of element_vertices; looks for
/// faults, before which it ends.
kedge_status connect(kedge_context *ctx, Work *w, bool *sound);
}  // namespace kg_build
