/// @file
/// Between the trace and the coarse space (ops/numbering/vertex_space.h): c = P^T (r - A z) and z
/// += P c, with the product A z += A P c where the fluxes of c are known
/// (ops/smooth/vertex_flux.h) or rows of A P are there (ops/smooth/vertex_rows.h), or
/// without it (spread); and to the vertex modes (ops/smooth/vertex_modes.h), value = weight phi .
/// (r - A z).
#pragma once
#include "ops/real.h"
#include "ops/smooth/vertex_flux.h"
#include "ops/smooth/vertex_modes.h"
#include "ops/smooth/vertex_rows.h"
KEDGE_BEGIN_DECLS

typedef struct kg_vertex_restrict_args {
  kg_vertex_space space;
  kg_sizes size;
  kg_number number;     ///< of r and product
  const void *r;        ///< [free trace edge][mode]
  const void *product;  ///< the same, A z
  double *coarse;       ///< [unknown]
} kg_vertex_restrict_args;

/// The correction is by fluxes or by rows of A P.
typedef struct kg_vertex_prolong_args {
  kg_vertex_correction correction;
  kg_sizes size;
  kg_number number;  ///< of z and product
  void *z;           ///< [free trace edge][mode]
  void *product;     ///< the same, A z
} kg_vertex_prolong_args;

typedef struct kg_vertex_spread_args {
  kg_vertex_space space;  ///< but for its mesh
  kg_sizes size;
  kg_number number;       ///< of z
  const int32_t *column;  ///< [entry] of the coarse matrix: those of ends have the vertex at the
                          ///< other one
  const double *coarse;   ///< [unknown]
  void *z;                ///< [free trace edge][mode]
} kg_vertex_spread_args;

typedef struct kg_vertex_modes_restrict_args {
  kg_vertex_modes modes;  ///< value is filled
  kg_sizes size;
  int32_t n_edges;      ///< free edges
  kg_number number;     ///< of r and product
  const void *r;        ///< [free trace edge][mode]
  const void *product;  ///< the same, A z; NULL: z is zero
} kg_vertex_modes_restrict_args;

/// Thread or loop = unknown: it gathers over the ends of edges at its vertex, in their order. Of
/// modes it gathers what a pass over the edges has left there.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_restrict, kg_vertex_restrict_args);
/// z += P c and A z += A P c. Thread or loop = edge.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_prolong, kg_vertex_prolong_args);
/// z += P c alone, of what the coarse system has anyway: the sides of the edges may be gone. Thread
/// or loop = unknown, which adds to edges that end there: each edge has one that does.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_spread, kg_vertex_spread_args);
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_modes_restrict, kg_vertex_modes_restrict_args);
/// The cost of a restriction and a prolongation, where only modes 0 and 1 move.
kg_cost kg_vertex_transfer_cost(const kg_trace_counts *count, int32_t n_rows, kg_number number);
/// The cost of restricting r - A z to the vertex modes; adding them is part of a step
/// (kg_edge_smooth_cost()).
kg_cost kg_vertex_modes_restrict_cost(kg_sizes size, const kg_trace_counts *count, int32_t n_rows,
                                      kg_number number);

/// Unknown i of P^T (r - A z), summed in double precision.
KG_INLINE void kg_vertex_gather(const kg_vertex_restrict_args *a, int32_t i)
{
  const kg_real *r = (const kg_real *)a->r, *product = (const kg_real *)a->product;
  double mean = 0.0, slope = 0.0;
  for (int32_t k = a->space.begin[i]; k < a->space.begin[i + 1]; ++k) {
    const int64_t at = (int64_t)(a->space.ends[k] >> 1) * a->size.n_edge;
    const double rise = r[at + 1] - product[at + 1];
    mean += r[at] - product[at];
    slope += a->space.ends[k] & 1 ? rise : -rise;
  }
  a->coarse[i] = KG_PROLONG_MEAN * mean + KG_PROLONG_SLOPE * slope;
}

/// The parts of an edge, from its modes of x = r - A z.
KG_INLINE void kg_vertex_mode_parts(const kg_vertex_modes *modes, int m, int32_t edge,
                                    const kg_real *x)
{
  double even = 0.0, odd = 0.0;
  for (int k = 1; k < m; ++k) *(k & 1 ? &odd : &even) += modes->shape[k] * x[k];
  modes->part[2 * (int64_t)edge] = even - odd;
  modes->part[2 * (int64_t)edge + 1] = even + odd;
}

/// The value of a vertex, from the parts of its edges.
KG_INLINE void kg_vertex_mode_value(const kg_vertex_modes_restrict_args *a, int32_t i)
{
  const kg_vertex_modes *modes = &a->modes;
  double sum = 0.0;
  for (int32_t k = modes->space.begin[i]; k < modes->space.begin[i + 1]; ++k)
    sum += modes->part[modes->space.ends[k]];
  modes->value[i] = modes->weight[i] * sum;
}

/// The modes of an edge of z += P c, and of its product.
KG_INLINE void kg_vertex_add(const kg_vertex_prolong_args *a, int32_t edge)
{
  const kg_edge_correction c = kg_edge_correct(&a->correction, edge);
  const int64_t row = (int64_t)edge * a->size.n_edge;
  kg_real *z = (kg_real *)a->z + row;
  z[0] += (kg_real)c.mean;
  z[1] += (kg_real)c.slope;
  ((kg_real *)a->product)[row] += (kg_real)c.flux;
}

/// The modes of an edge of z += P c, and of its product, by rows of A P.
KG_INLINE void kg_vertex_add_rows(const kg_vertex_prolong_args *a, int32_t edge)
{
  const int m = a->size.n_edge;
  kg_real *z = (kg_real *)a->z + (int64_t)edge * m;
  kg_real *product = (kg_real *)a->product + (int64_t)edge * m;
  double factor[KG_VERTEX_ROW_MAX];
  kg_vertex_row_factors(&a->correction.space.mesh, a->correction.coarse, edge, factor);
  z[0] += (kg_real)kg_vertex_row_mean(factor);
  z[1] += (kg_real)kg_vertex_row_slope(factor);
  for (int k = 0; k < m; ++k)
    product[k] += (kg_real)kg_vertex_row_product(&a->correction.rows, m, edge, k, factor);
}

/// The modes of those edges at a vertex of which it is the higher unknown.
KG_INLINE void kg_vertex_spread_at(const kg_vertex_spread_args *a, int32_t i)
{
  const kg_vertex_space *space = &a->space;
  for (int32_t k = space->begin[i]; k < space->begin[i + 1]; ++k) {
    const int32_t other = a->column[space->row[i] + (k - space->begin[i])];
    const bool is_higher = space->ends[k] & 1;
    if (!is_higher && !kg_vertex_is_fixed(space, other)) continue;
    const double low = a->coarse[is_higher ? other : i], high = a->coarse[is_higher ? i : other];
    kg_real *z = (kg_real *)a->z + (int64_t)(space->ends[k] >> 1) * a->size.n_edge;
    z[0] += (kg_real)kg_prolong_mean(low, high);
    z[1] += (kg_real)kg_prolong_slope(low, high);
  }
}

KEDGE_END_DECLS
