/// @file
/// Local matrices K^e in memory: their layout, their number, and the elements whose they are. This
/// header and those of the layouts beside it say where an entry lies.
///
/// A kg_local holds the K^e of consecutive lanes in one piece of memory that somebody else owns.
/// Operators that multiply by K^e, or make them, take the kg_local of their batch; those that read
/// single entries take kg_locals, the list of all (ops/local/entry.h).
#pragma once
#include <assert.h>

#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef enum kg_layout {
  KG_LAYOUT_PACKED,       ///< lower triangle, row by row (kg_packed_entry()); 0 in empty lanes
  KG_LAYOUT_REDUCED,      ///< without what is known of pure diffusion (ops/local/reduced.h)
  KG_LAYOUT_DIFFERENCES,  ///< K' for differences (ops/local/differences.h), as PACKED
  KG_LAYOUT_FULL,         ///< all n^2 entries (ops/local/full.h)
} kg_layout;

/// All layouts but FULL are [group][row][lane]: a warp reads one row of 32 elements as one line.
typedef struct kg_local {
  void *data;
  kg_layout layout;
  kg_number number;
  int n;                        ///< rows of a K^e: trace unknowns of an element
  int rows;                     ///< numbers of an element in this layout: kg_local_rows()
  int32_t first_lane, n_lanes;  ///< whose K^e they are; groups are whole but with FULL
  int32_t n_elements;           ///< the first of these lanes have an element, the others are empty
} kg_local;

enum { KG_REDUCED_FLUX = 3 };  ///< rows of fluxes in front of a reduced K^e

/// Numbers of an element whose K^e has n rows.
KG_INLINE int kg_local_rows(kg_layout layout, int n)
{
  const int inner = n - 3;  // unknowns of reduced K^e
  switch (layout) {
    case KG_LAYOUT_REDUCED:
      return KG_REDUCED_FLUX + inner * (inner + 1) / 2;
    case KG_LAYOUT_FULL:
      return n * n;
    default:
      return n * (n + 1) / 2;
  }
}

/// The K^e of a batch of lanes. It has no groups without an element.
/// @param[in] m  modes of a facet
static inline kg_local kg_local_of_batch(kg_layout layout, kg_number number, int m,
                                         const kg_lane_batch *batch, void *data)
{
  const int n = batch->n_facets * m;
  const int32_t lanes = (batch->n_elements + KG_LANES - 1) / KG_LANES * KG_LANES;
  return (kg_local){.data = data,
                    .layout = layout,
                    .number = number,
                    .n = n,
                    .rows = kg_local_rows(layout, n),
                    .first_lane = batch->first_group * KG_LANES,
                    .n_lanes = layout == KG_LAYOUT_FULL ? batch->n_elements : lanes,
                    .n_elements = batch->n_elements};
}

/// The K^e of all triangles that `count` counts, of all its groups, at `data`; NULL: their shape
/// alone. FULL has no empty lanes.
static inline kg_local kg_local_all(kg_layout layout, kg_number number, kg_sizes size,
                                    const kg_trace_counts *count, void *data)
{
  kg_lane_batch lanes;
  lanes.n_facets = 3, lanes.n_elements = count->n_elements, lanes.first_group = 0;
  kg_local all = kg_local_of_batch(layout, number, size.n_edge, &lanes, data);
  if (layout != KG_LAYOUT_FULL) all.n_lanes = count->n_groups * KG_LANES;
  return all;
}

/// The distance of entry (i, j) or (j, i) of packed K^e from entry (0, 0), in numbers.
KG_INLINE int64_t kg_local_at(int i, int j)
{
  return (int64_t)kg_packed_entry(i, j) * KG_LANES;
}

/// Entry (0, 0) of lane i of packed K^e in double precision.
KG_INLINE const double *kg_packed_lane(const kg_local *local, int32_t i)
{
  return (const double *)local->data + (int64_t)(i / KG_LANES) * local->rows * KG_LANES +
         i % KG_LANES;
}

/// How many numbers all its lanes have, and how many bytes.
static inline size_t kg_local_count(const kg_local *local)
{
  return (size_t)local->rows * (size_t)local->n_lanes;
}

static inline size_t kg_local_bytes(const kg_local *local)
{
  return kg_local_count(local) * kg_number_bytes(local->number);
}

/// The K^e of `n_lanes` of its lanes from `first_lane` on, which begins a group.
static inline kg_local kg_local_part(const kg_local *local, int32_t first_lane, int32_t n_lanes)
{
  const size_t before = (size_t)(first_lane - local->first_lane) * (size_t)local->rows;
  kg_local part = *local;
  assert(first_lane >= local->first_lane &&
         first_lane - local->first_lane + n_lanes <= local->n_lanes);
  part.data = (char *)local->data + before * kg_number_bytes(local->number);
  const int32_t left = local->n_elements - (first_lane - local->first_lane);
  part.first_lane = first_lane;
  part.n_lanes = n_lanes;
  part.n_elements = left < 0 ? 0 : left < n_lanes ? left : n_lanes;
  return part;
}

/// All K^e of a trace, for who reads single entries. Kernels take it by value.
typedef struct kg_locals {
  /// [group][3][lane] of the trace arrays: the directions of sides, which REDUCED alone needs
  const uint32_t *side_edge;
  int n_locals;
  kg_local local[KG_BATCHES_MAX];  ///< each begins behind the one before
} kg_locals;

static inline size_t kg_locals_bytes(const kg_locals *locals)
{
  size_t bytes = 0;
  for (int i = 0; i < locals->n_locals; ++i) bytes += kg_local_bytes(&locals->local[i]);
  return bytes;
}

/// The list that holds one kg_local alone.
static inline kg_locals kg_locals_of(kg_local local, const uint32_t *side_edge)
{
  return (kg_locals){.side_edge = side_edge, .n_locals = 1, .local = {local}};
}

/// Find the kg_local that has the K^e of a lane. Nobody else decides which one it is.
KG_INLINE const kg_local *kg_local_of_lane(const kg_locals *locals, int32_t lane)
{
  int i = 0;
  while (i + 1 < locals->n_locals && lane >= locals->local[i + 1].first_lane) ++i;
  return &locals->local[i];
}

/// The place of the K^e of one element.
typedef struct kg_local_element {
  const void *data;
  const uint32_t *side_edge;
  kg_layout layout;
  kg_number number;
  int m;         ///< modes of an edge
  int n;         ///< rows of K^e
  int64_t at;    ///< of its row 0; the next row is KG_LANES numbers on, with FULL one
  int64_t side;  ///< of its side 0 in side_edge; the next side is KG_LANES on
} kg_local_element;

/// @param[in] m  modes of an edge
KG_INLINE kg_local_element kg_local_element_of(const kg_locals *locals, int m, int32_t lane)
{
  const kg_local *local = kg_local_of_lane(locals, lane);
  const int32_t i = lane - local->first_lane;
  const int64_t group = (int64_t)(i / KG_LANES) * local->rows * KG_LANES;
  const kg_local_element element = {
      .data = local->data,
      .side_edge = locals->side_edge,
      .layout = local->layout,
      .number = local->number,
      .m = m,
      .n = local->n,
      .at = local->layout == KG_LAYOUT_FULL ? (int64_t)i * local->rows : group + i % KG_LANES,
      .side = kg_lane_side(3, lane, 0)};
  return element;
}

/// The number that lies `at`.
KG_INLINE double kg_local_value(const kg_local_element *e, int64_t at)
{
  return e->number == KG_DOUBLE ? ((const double *)e->data)[at]
                                : (double)((const float *)e->data)[at];
}

/// A row of an element; the layout is one by lanes, not FULL.
KG_INLINE double kg_local_row(const kg_local_element *e, int row)
{
  return kg_local_value(e, e->at + (int64_t)row * KG_LANES);
}

KEDGE_END_DECLS
