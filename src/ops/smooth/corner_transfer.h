/// @file
/// Between the trace and the coarse space of tetrahedra, by the three modes of linear functions on
/// a facet (ops/numbering/facet_corners.h): what ops/smooth/vertex_transfer.h says of edges.
#pragma once
#include "ops/smooth/corner_rows.h"
#include "ops/smooth/vertex_transfer.h"
KEDGE_BEGIN_DECLS

/// Unknown i of P^T (r - A z), summed in double precision.
KG_INLINE void kg_corner_gather(const kg_vertex_restrict_args *a, int32_t i)
{
  const kg_real *r = (const kg_real *)a->r, *product = (const kg_real *)a->product;
  double sum = 0.0;
  for (int32_t k = a->space.begin[i]; k < a->space.begin[i + 1]; ++k) {
    const int32_t end = a->space.ends[k];
    const int64_t at = (int64_t)(end / KG_CORNERS) * a->m;
    const double mode[KG_CORNERS] = {r[at] - product[at], r[at + 1] - product[at + 1],
                                     r[at + 2] - product[at + 2]};
    sum += kg_corner_value(mode, end % KG_CORNERS);
  }
  a->coarse[i] = sum;
}

/// The modes of a facet of z += P c, and of its product, by rows of A P.
KG_INLINE void kg_corner_add_rows(const kg_vertex_prolong_args *a, int32_t facet)
{
  const int64_t at = (int64_t)facet * a->m;
  kg_real *z = (kg_real *)a->z + at, *product = (kg_real *)a->product + at;
  const kg_vertex_rows *rows = &a->correction.rows;
  double factor[KG_CORNER_ROW], mode[KG_CORNERS];
  kg_corner_row_factors(&a->correction.space.mesh, a->correction.coarse, facet, factor, mode);
  for (int k = 0; k < KG_CORNERS; ++k) z[k] += (kg_real)mode[k];
  for (int k = 0; k < a->m; ++k) {
    const float *row = rows->value + kg_vertex_row_at(rows, a->m, facet, k);
    double sum = 0.0;
    for (int i = 0; i < KG_CORNER_ROW; ++i) sum += (double)row[i * KG_LANES] * factor[i];
    product[k] += (kg_real)sum;
  }
}

KEDGE_END_DECLS
