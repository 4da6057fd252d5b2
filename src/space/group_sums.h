/// @file
/// What is summed by the groups of a mesh, and in which order: facets of groups of lines, elements
/// of regions. The order depends on neither threads nor chunks.
#pragma once
#include "space/trace_layout.h"
KEDGE_BEGIN_DECLS

enum { KG_RUN_GROUPS = 32 };  ///< lane groups of a run, at most

/// A *run* is a range of lane groups. Most have elements of one region, and one *record* of sums; a
/// run of several regions is one group, with a record for each of them. Pointers into one array, in
/// host or in device memory.
typedef struct kg_region_runs {
  int32_t n, n_records, n_mixed;
  const int32_t *first;   ///< [run + 1]: group, counted through all batches
  const int32_t *record;  ///< [run + 1]: its first
  const int32_t *mixed;   ///< [run]: place of its lanes in `slot`; -1: there is one record
  const uint8_t *slot;    ///< [lane of a mixed run]: the record, counted from the run's first
} kg_region_runs;

/// Sizes of the lists.
typedef struct kg_grouped_count {
  int32_t n_facets, n_runs, n_records, n_mixed;
} kg_grouped_count;

typedef struct kg_grouped {
  kg_grouped_count count;
  int32_t *list;        ///< owned: what kg_grouped_at() points into
  int32_t *edge;        ///< owned: [facet], of the mesh
  int32_t *region;      ///< owned: [record], group of the mesh
  const kg_side *side;  ///< [facet], ascending: those of kg_line_sides()
  kg_region_runs runs;
} kg_grouped;

/// List the facets of all groups of lines, and the runs of the batches.
/// @param[out] out  kg_grouped_free(), also after a failure
kedge_status kg_grouped_create(kedge_context *ctx, const kedge_mesh *mesh,
                               const kg_lane_batches *batches, kg_grouped *out);
void kg_grouped_free(kg_grouped *grouped);
/// The length of the array that has all lists, in numbers of 4 bytes.
size_t kg_grouped_numbers(const kg_grouped_count *count);
/// Point lists into an array, which may be a copy.
/// @param[out] side  [facet]
kg_region_runs kg_grouped_at(const kg_grouped_count *count, const int32_t *list,
                             const kg_side **side);

KEDGE_END_DECLS
