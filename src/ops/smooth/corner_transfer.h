/// @file
/// Between the trace and the coarse space of tetrahedra, by the three modes of linear functions on a
/// facet (ops/numbering/facet_corners.h): what ops/smooth/vertex_transfer.h says of edges.
#pragma once
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

/// The modes of a facet of z += P c.
KG_INLINE void kg_corner_spread(const kg_vertex_spread_args *a, int32_t facet)
{
  int32_t vertex[KG_CORNERS];
  double value[KG_CORNERS], mode[KG_CORNERS];
  kg_facet_vertices(&a->space.mesh, facet, vertex);
  for (int c = 0; c < KG_CORNERS; ++c) value[c] = a->coarse[vertex[c]];
  kg_corner_modes(value, mode);
  kg_real *z = (kg_real *)a->z + (int64_t)facet * a->m;
  for (int k = 0; k < KG_CORNERS; ++k) z[k] += (kg_real)mode[k];
}

KEDGE_END_DECLS
