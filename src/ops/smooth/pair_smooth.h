/// @file
/// What the first edge of a pair does in kg_pair_smooth() (ops/smooth/edge_pairs.h), for host and
/// GPU, which gives the modes of an edge as a constant.
#pragma once
#include "ops/real.h"
#include "ops/smooth/edge_pairs.h"
KEDGE_BEGIN_DECLS

/// x of an edge, of one of K vectors.
KG_INLINE void kg_pair_residual(const kg_pair_smooth_args *a, int m, int32_t edge, int K,
                                int vector, kg_real *x)
{
  const int64_t row = (int64_t)edge * m * K + vector;
  const kg_real *r = (const kg_real *)a->r, *product = (const kg_real *)a->product;
  for (int k = 0; k < m; ++k)
    x[k] = product ? r[row + k * K] - product[row + k * K] : r[row + k * K];
  if (!a->correction.coarse) return;
  const kg_coarse_vector coarse = {a->correction.coarse, K, vector};
  double factor[KG_VERTEX_ROW_MAX];
  kg_vertex_row_factors(&a->correction.space.mesh, coarse, edge, factor);
  for (int k = 0; k < m; ++k)
    x[k] -= (kg_real)kg_vertex_row_product(&a->correction.rows, m, edge, k, factor);
}

/// y = W^T (W x) of an edge.
KG_INLINE void kg_pair_solve(const kg_pair_smooth_args *a, int m, int32_t edge, const kg_real *x,
                             kg_real *y)
{
  const float *w = a->inverse + kg_edge_block_at(m, edge);
  for (int i = 0; i < m; ++i) {
    kg_real sum = 0;
    for (int j = 0; j <= i; ++j) sum += (kg_real)w[kg_packed_entry(i, j) * KG_LANES] * x[j];
    y[i] = 0;
    for (int j = 0; j <= i; ++j) y[j] += (kg_real)w[kg_packed_entry(i, j) * KG_LANES] * sum;
  }
}

/// z += step y of an edge.
KG_INLINE void kg_pair_add(const kg_pair_smooth_args *a, int m, int32_t edge, int K, int vector,
                           const kg_real *y)
{
  kg_real *z = (kg_real *)a->z + (int64_t)edge * m * K + vector;
  for (int k = 0; k < m; ++k) z[k * K] += (kg_real)a->step * y[k];
}

/// With t = D_b^-1 C D_a^-1 x_a the pair lacks -t on b, and -D_a^-1 C^T (D_b^-1 x_b - t) on a.
KG_INLINE void kg_pair_step(const kg_pair_smooth_args *args, int m, int32_t a, int K, int vector)
{
  const int32_t b = args->pair[a] - 1;
  if (b < a) return;
  const kg_pair_coupling c = kg_pair_coupling_of(&args->locals, args->sides, m, a, b);
  kg_real x[KG_PAIR_MODES_MAX], y[KG_PAIR_MODES_MAX], t[KG_PAIR_MODES_MAX];
  kg_pair_residual(args, m, a, K, vector, x);
  kg_pair_solve(args, m, a, x, y);
  for (int i = 0; i < m; ++i) {
    x[i] = 0;
    for (int j = 0; j < m; ++j) x[i] -= (kg_real)kg_pair_entry(&c, i, j) * y[j];
  }
  kg_pair_solve(args, m, b, x, t);
  kg_pair_add(args, m, b, K, vector, t);
  kg_pair_residual(args, m, b, K, vector, x);
  kg_pair_solve(args, m, b, x, y);
  for (int j = 0; j < m; ++j) x[j] = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) x[j] -= (kg_real)kg_pair_entry(&c, i, j) * (y[i] + t[i]);
  kg_pair_solve(args, m, a, x, y);
  kg_pair_add(args, m, a, K, vector, y);
}

KEDGE_END_DECLS
