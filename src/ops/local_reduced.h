/// @file
/// K^e of pure diffusion without what is known of it: its products with linear functions
/// (docs/math.md#reduced). The product reads 0.43 (P = 1) to 0.82 (P = 9) of the numbers of a packed K^e.
///
/// Let v be the linear function with the means of x on the three edges, x = v + w. K^e v is zero but in
/// mode 0, where it is a flux: a symmetric 3 x 3 matrix g of the means, whose rows add up to zero. w has
/// no mode 0, so K^e w needs the rows and columns of modes 1 ... P alone; its mode 0 follows from mode 1,
/// because linear functions do not see K^e w. With l + 1, l - 1 modulo 3, s_l = 1, or -1 where the side
/// runs against its edge, and c = 1 / sqrt 3:
///
///     w_l1 = x_l1 - c s_l (x_l+1,0 - x_l-1,0),   w_li = x_li for i > 1
///     y_li = (K^e w)_li for i > 0
///     y_l0 = sum_k g_lk (x_k0 - x_l0) + c (s_l+1 y_l+1,1 - s_l-1 y_l-1,1)
///
/// An element has the rows g_01, g_02, g_12 and then the lower triangle of K^e for the unknowns (0, 1),
/// (1, 1), (2, 1), (0, 2) ... (0, P), (1, 2) ... (2, P), row by row as in a packed K^e:
///
///     [group][3 + 3 P (3 P + 1) / 2][lane]
///
/// The three diagonal entries of mode 1, which are positive, have the sign s_l. Empty lanes are zero.
/// Differences are taken first, so that in single precision constants and linear functions stay what
/// they are.
#pragma once
#include "ops/ops.h"
#include "ops/sweep.h"
#include "ops/trace_arrays.h"
KEDGE_BEGIN_DECLS

#define KG_REDUCED_SLOPE 0.57735026918962576451  ///< c

enum {
  KG_REDUCED_FLUX = 3,   ///< rows of g
  KG_REDUCED_FIRST = 9,  ///< rows up to the 3 x 3 matrix of mode 1
};

static inline int kg_reduced_rows(kg_sizes size)
{
  const int n = size.n_trace - 3;
  return KG_REDUCED_FLUX + n * (n + 1) / 2;
}

typedef struct kg_local_reduce_args {
  kg_batch batch;
  const double *from;             ///< [group][n (n+1) / 2][lane]: K^e, without reaction
  kg_number number;               ///< of `to`
  void *to;                       ///< groups lie one behind the other from here on
  int32_t first_group, n_groups;  ///< to reduce
} kg_local_reduce_args;

/// `to` may lie over `from` where what a group writes has been read: by an earlier call, or by itself.
kedge_status kg_local_reduce(kedge_context *ctx, const kg_local_reduce_args *args);
/// All groups, into memory that begins at or before their own and reaches into it: nothing beyond what they
/// make is written. With `to` = `from` the rest of the packed K^e is free afterwards.
kedge_status kg_local_reduce_down(kedge_context *ctx, const kg_batch *batch, const double *from,
                                  double *to);
kg_cost kg_local_reduce_cost(kg_sizes size, int64_t n_elements, kg_number number);

kedge_status kg_local_reduce_host(kedge_context *ctx, const kg_local_reduce_args *args);
kedge_status kg_local_reduce_cuda(kedge_context *ctx, const kg_local_reduce_args *args);
kedge_status kg_local_reduce_host_single(kedge_context *ctx, const kg_local_reduce_args *args);
kedge_status kg_local_reduce_cuda_single(kedge_context *ctx, const kg_local_reduce_args *args);

/// The unknown of K^e that is number i of the reduced ones.
KG_INLINE int kg_reduced_unknown(int m, int i)
{
  return i < 3 ? i * m + 1 : (i - 3) / (m - 2) * m + 2 + (i - 3) % (m - 2);
}

/// s_l of an element.
KG_INLINE double kg_reduced_sign(const kg_local_reduce_args *a, int32_t e, int l)
{
  return a->batch.arrays.side_edge[kg_lane_side(e, l)] & 1u ? -1.0 : 1.0;
}

/// p_l . K^e p_k: the function p_l has mean 1 on edge l and 0 on the others. `k` is lane 0 of entry
/// (0, 0).
KG_INLINE double kg_reduced_flux(const kg_local_reduce_args *a, const double *k, int32_t e, int l,
                                 int other)
{
  const int m = a->batch.reference.size.n_edge, ends[2] = {l, other};
  int at[2][3];
  double value[2][3];
  for (int i = 0; i < 2; ++i) {
    const int next = (ends[i] + 1) % 3, before = (ends[i] + 2) % 3;
    at[i][0] = ends[i] * m, at[i][1] = before * m + 1, at[i][2] = next * m + 1;
    value[i][0] = 1.0;
    value[i][1] = KG_REDUCED_SLOPE * kg_reduced_sign(a, e, before);
    value[i][2] = -KG_REDUCED_SLOPE * kg_reduced_sign(a, e, next);
  }
  double sum = 0.0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      sum += value[0][i] * value[1][j] * k[kg_packed_entry(at[0][i], at[1][j]) * KG_LANES];
  return sum;
}

/// Row `row` of an element.
KG_INLINE double kg_reduced_entry(const kg_local_reduce_args *a, int32_t e, int row)
{
  const int m = a->batch.reference.size.n_edge, packed = a->batch.reference.size.n_packed;
  const double *k = a->from + (int64_t)(e / KG_LANES) * packed * KG_LANES + e % KG_LANES;
  if (e >= a->batch.count.n_elements) return 0.0;
  if (row < KG_REDUCED_FLUX) return kg_reduced_flux(a, k, e, row == 2, row == 0 ? 1 : 2);
  int i = 0;
  for (row -= KG_REDUCED_FLUX; row > i; row -= ++i) {
  }
  const double value =
      k[kg_packed_entry(kg_reduced_unknown(m, i), kg_reduced_unknown(m, row)) * KG_LANES];
  return i < 3 && row == i ? copysign(value, kg_reduced_sign(a, e, i)) : value;
}

KEDGE_END_DECLS
