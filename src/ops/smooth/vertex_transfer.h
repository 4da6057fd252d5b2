/// @file
/// Between the trace and the coarse space (ops/numbering/vertex_space.h): c = P^T (r - A z) and z
/// += P c, with the product A z += A P c where the fluxes of c are known
/// (ops/smooth/vertex_flux.h) or rows of A P are there (ops/smooth/vertex_rows.h), or
/// without it (spread); and to the vertex modes (ops/smooth/vertex_modes.h), value = weight phi .
/// (r - A z).
#pragma once
#include "ops/pass.h"
#include "ops/real.h"
#include "ops/smooth/vertex_flux.h"
#include "ops/smooth/vertex_modes.h"
#include "ops/smooth/vertex_rows.h"
KEDGE_BEGIN_DECLS

typedef struct kg_vertex_restrict_args {
  kg_vertex_space space;
  int m;
  kg_number number;     ///< of r and product
  const void *r;        ///< [free trace edge][mode]
  const void *product;  ///< the same, A z
  double *coarse;       ///< [unknown]
  bool many;            ///< of KG_VECTORS vectors (ops/pass.h)
} kg_vertex_restrict_args;

/// The correction is by fluxes or by rows of A P.
typedef struct kg_vertex_prolong_args {
  kg_vertex_correction correction;
  int m;
  kg_number number;  ///< of z and product
  void *z;           ///< [free trace edge][mode]
  void *product;     ///< the same, A z
  bool many;         ///< of KG_VECTORS vectors
} kg_vertex_prolong_args;

typedef struct kg_vertex_spread_args {
  kg_vertex_space space;  ///< but for its mesh
  int m;
  kg_number number;       ///< of z
  const int32_t *column;  ///< [entry] of the coarse matrix: those of ends have the vertex at the
                          ///< other one
  const double *coarse;   ///< [unknown]
  void *z;                ///< [free trace edge][mode]
  bool many;              ///< of KG_VECTORS vectors
} kg_vertex_spread_args;

typedef struct kg_vertex_modes_restrict_args {
  kg_vertex_modes modes;  ///< value is filled
  int m;
  int32_t n_edges;      ///< free edges
  kg_number number;     ///< of r and product
  const void *r;        ///< [free trace edge][mode]
  const void *product;  ///< the same, A z; NULL: z is zero
  kg_advance advance;   ///< a step that r takes first, with many vectors and z zero
  bool many;            ///< of KG_VECTORS vectors
} kg_vertex_modes_restrict_args;

/// Thread or loop = unknown: it gathers over the ends of edges at its vertex, in their order. Of
/// modes it gathers what a pass over the edges has left there.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_restrict, kg_vertex_restrict_args);
/// z += P c and A z += A P c. Thread or loop = edge.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_prolong, kg_vertex_prolong_args);
/// z += P c alone, of what the coarse system has anyway: the sides of the edges may be gone. Thread
/// or loop = unknown, which adds to edges that end there: each edge has one that does. Not in
/// space, where there are rows of A P.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_spread, kg_vertex_spread_args);
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_vertex_modes_restrict, kg_vertex_modes_restrict_args);
/// The cost of a restriction and a prolongation, where only modes 0 and 1 move.
kg_cost kg_vertex_transfer_cost(const kg_trace_counts *count, int32_t n_rows, kg_number number);
/// The cost of restricting r - A z to the vertex modes; adding them is part of a step
/// (kg_edge_smooth_cost()).
kg_cost kg_vertex_modes_restrict_cost(int m, const kg_trace_counts *count, int32_t n_rows,
                                      kg_number number);

/// Unknown i of P^T (r - A z), summed in double precision; of one of K vectors.
KG_INLINE void kg_vertex_gather_of(const kg_vertex_restrict_args *a, int32_t i, int K, int vector)
{
  const kg_real *r = (const kg_real *)a->r, *product = (const kg_real *)a->product;
  double mean = 0.0, slope = 0.0;
  for (int32_t k = a->space.begin[i]; k < a->space.begin[i + 1]; ++k) {
    const int64_t at = (int64_t)(a->space.ends[k] >> 1) * a->m * K + vector;
    const double rise = r[at + K] - product[at + K];
    mean += r[at] - product[at];
    slope += a->space.ends[k] & 1 ? rise : -rise;
  }
  a->coarse[(int64_t)i * K + vector] = KG_PROLONG_MEAN * mean + KG_PROLONG_SLOPE * slope;
}
KG_INLINE void kg_vertex_gather(const kg_vertex_restrict_args *a, int32_t i)
{
  kg_vertex_gather_of(a, i, 1, 0);
}
/// @param[in] i  unknown, and which of its vectors
KG_INLINE void kg_vertex_gather_many(const kg_vertex_restrict_args *a, int64_t i)
{
  kg_vertex_gather_of(a, (int32_t)(i / KG_VECTORS), KG_VECTORS, (int)(i % KG_VECTORS));
}

/// The parts of an edge, from its modes of x = r - A z; of one of K vectors, which have
/// [free trace edge][2][vector].
KG_INLINE void kg_vertex_mode_parts(const kg_vertex_modes *modes, int m, int32_t edge, int K,
                                    int vector, const kg_real *x)
{
  double even = 0.0, odd = 0.0;
  for (int k = 1; k < m; ++k) *(k & 1 ? &odd : &even) += modes->shape[k] * x[k];
  modes->part[2 * (int64_t)edge * K + vector] = even - odd;
  modes->part[(2 * (int64_t)edge + 1) * K + vector] = even + odd;
}

/// The value of a vertex, from the parts of its edges; of one of K vectors.
KG_INLINE void kg_vertex_mode_value_of(const kg_vertex_modes_restrict_args *a, int32_t i, int K,
                                       int vector)
{
  const kg_vertex_modes *modes = &a->modes;
  double sum = 0.0;
  for (int32_t k = modes->space.begin[i]; k < modes->space.begin[i + 1]; ++k)
    sum += modes->part[(int64_t)modes->space.ends[k] * K + vector];
  modes->value[(int64_t)i * K + vector] = modes->weight[i] * sum;
}
KG_INLINE void kg_vertex_mode_value(const kg_vertex_modes_restrict_args *a, int32_t i)
{
  kg_vertex_mode_value_of(a, i, 1, 0);
}
/// @param[in] i  vertex, and which of its vectors
KG_INLINE void kg_vertex_mode_value_many(const kg_vertex_modes_restrict_args *a, int64_t i)
{
  kg_vertex_mode_value_of(a, (int32_t)(i / KG_VECTORS), KG_VECTORS, (int)(i % KG_VECTORS));
}

/// The modes of an edge of z += P c, and of its product.
KG_INLINE void kg_vertex_add(const kg_vertex_prolong_args *a, int32_t edge)
{
  const kg_edge_correction c = kg_edge_correct(&a->correction, edge, 1, 0);
  const int64_t row = (int64_t)edge * a->m;
  kg_real *z = (kg_real *)a->z + row;
  z[0] += (kg_real)c.mean;
  z[1] += (kg_real)c.slope;
  ((kg_real *)a->product)[row] += (kg_real)c.flux;
}

/// The modes of an edge of z += P c, and of its product, by rows of A P; of one of K vectors.
KG_INLINE void kg_vertex_add_rows_of(const kg_vertex_prolong_args *a, int32_t edge, int K,
                                     int vector)
{
  const int m = a->m;
  kg_real *z = (kg_real *)a->z + (int64_t)edge * m * K + vector;
  kg_real *product = (kg_real *)a->product + (int64_t)edge * m * K + vector;
  const kg_coarse_vector coarse = {a->correction.coarse, K, vector};
  double factor[KG_VERTEX_ROW_MAX];
  kg_vertex_row_factors(&a->correction.space.mesh, coarse, edge, factor);
  z[0] += (kg_real)kg_vertex_row_mean(factor);
  z[K] += (kg_real)kg_vertex_row_slope(factor);
  for (int k = 0; k < m; ++k)
    product[k * K] += (kg_real)kg_vertex_row_product(&a->correction.rows, m, edge, k, factor);
}
KG_INLINE void kg_vertex_add_rows(const kg_vertex_prolong_args *a, int32_t edge)
{
  kg_vertex_add_rows_of(a, edge, 1, 0);
}
/// @param[in] i  edge, and which of its vectors
KG_INLINE void kg_vertex_add_rows_many(const kg_vertex_prolong_args *a, int64_t i)
{
  kg_vertex_add_rows_of(a, (int32_t)(i / KG_VECTORS), KG_VECTORS, (int)(i % KG_VECTORS));
}

/// The modes of those edges at a vertex of which it is the higher unknown, of one of K vectors.
KG_INLINE void kg_vertex_spread_of(const kg_vertex_spread_args *a, int32_t i, int K, int vector)
{
  const kg_coarse_vector coarse = {a->coarse, K, vector};
  const kg_vertex_space *space = &a->space;
  for (int32_t k = space->begin[i]; k < space->begin[i + 1]; ++k) {
    const int32_t other = a->column[space->row[i] + (k - space->begin[i])];
    const bool is_higher = space->ends[k] & 1;
    if (!is_higher && !kg_vertex_is_fixed(space, other)) continue;
    const double low = kg_coarse_at(coarse, is_higher ? other : i);
    const double high = kg_coarse_at(coarse, is_higher ? i : other);
    kg_real *z = (kg_real *)a->z + (int64_t)(space->ends[k] >> 1) * a->m * K + vector;
    z[0] += (kg_real)kg_prolong_mean(low, high);
    z[K] += (kg_real)kg_prolong_slope(low, high);
  }
}
KG_INLINE void kg_vertex_spread_at(const kg_vertex_spread_args *a, int32_t i)
{
  kg_vertex_spread_of(a, i, 1, 0);
}
/// @param[in] i  unknown, and which of its vectors
KG_INLINE void kg_vertex_spread_many(const kg_vertex_spread_args *a, int64_t i)
{
  kg_vertex_spread_of(a, (int32_t)(i / KG_VECTORS), KG_VECTORS, (int)(i % KG_VECTORS));
}

KEDGE_END_DECLS
