// Eight elements at a time in SIMD lanes; Z^-1 and [R | f] of a pack stay in the core's cache.
#include <math.h>

#include "ops/lanes.h"
#include "ops/local_matrices.h"

/// [R | f] with signs of reversed sides, [N][n + 1].
static void build_lift(const kg_local_matrices_args *a, const kg_element_pack *e, int64_t group,
                       int part, const kg_pack *sign, kg_pack *w)
{
  const kg_reference *ref = &a->batch.reference;
  const int n = ref->size.n_trace, m = ref->size.n_edge;
  for (int i = 0; i < ref->size.n_modes; ++i) {
    kg_pack *row = w + (size_t)i * (n + 1);
    for (int c = 0; c < n; ++c) {
      const int l = c / m, at = i * n + c;
      row[c] = sign[c] * (e->tau[l] * ref->lift[at] + e->lift_r[l] * ref->lift_r[at] +
                          e->lift_s[l] * ref->lift_s[at]);
    }
    row[n] = *kg_lanes_row_const(a->load, group, ref->size.n_modes, i, part);
  }
}

/// An entry of K^e to where it belongs; of those that reduced K^e do not have, nowhere.
static void put(const kg_local_matrices_args *a, int64_t group, int part, const kg_pack *sign,
                int row, int col, kg_pack value)
{
  const int m = a->batch.reference.size.n_edge;
  const int to = a->reduced ? kg_reduced_row(m, row, col) : kg_packed_entry(row, col);
  if (to < 0) return;
  if (a->reduced && row == col && row % m == 1) value *= sign[row];
  *kg_lanes_row(a->local, group, kg_local_matrices_rows(a), to, part) = value;
}

/// K^e = S0 - W^T W and F^e = W^T w_f, four columns at a time.
static void condense(const kg_local_matrices_args *a, const kg_element_pack *e, int64_t group,
                     int part, const kg_pack *sign, const kg_pack *keep, const kg_pack *w)
{
  const kg_reference *ref = &a->batch.reference;
  const int n = ref->size.n_trace, m = ref->size.n_edge, N = ref->size.n_modes, ld = n + 1;
  static const int packed3[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
  for (int row = 0; row <= n; ++row)
    for (int c0 = 0; c0 <= row && c0 < n; c0 += 4) {
      kg_pack sum[4] = {{0}};
      const int width = n - c0 < 4 ? n - c0 : 4;
      if (width == 4) {
        for (int i = 0; i < N; ++i) {
          const kg_pack r = w[i * ld + row], *c = w + i * ld + c0;
          for (int k = 0; k < 4; ++k) sum[k] += r * c[k];
        }
      } else {
        for (int i = 0; i < N; ++i)
          for (int k = 0; k < width; ++k) sum[k] += w[i * ld + row] * w[i * ld + c0 + k];
      }
      for (int k = 0; k < width; ++k) {
        const int c = c0 + k;
        if (row == n) {
          *kg_lanes_row(a->condensed, group, n, c, part) = sum[k];
        } else if (c <= row) {
          const int at = row * (row + 1) / 2 + c;
          kg_pack s0 = e->trace[packed3[row / m][c / m]] * ref->trace_mass[at];
          if (row == c) s0 += e->tau[row / m];
          put(a, group, part, sign, row, c, *keep * (sign[row] * sign[c] * s0 - sum[k]));
        }
      }
    }
}

static void pack_of_elements(const void *args, int64_t group, int part, kg_pack *scratch)
{
  const kg_local_matrices_args *a = args;
  const kg_sizes z = a->batch.reference.size;
  kg_element_pack e;
  kg_lanes_elements(&a->batch.arrays, a->material, group, part, &e);
  kg_pack sign[3 * (KEDGE_ORDER_MAX + 1)], keep;
  for (int i = 0; i < KG_PACK; ++i) {
    const int lane = part * KG_PACK + i;
    keep[i] = group * KG_LANES + lane < a->batch.count.n_elements ? 1.0 : 0.0;
    for (int c = 0; c < z.n_trace; ++c)
      sign[c][i] = kg_side_sign(
          a->batch.arrays.side_edge[(group * 3 + c / z.n_edge) * KG_LANES + lane], c % z.n_edge);
  }
  kg_pack *z_inverse = scratch, *w = scratch + z.n_modes * (z.n_modes + 1) / 2;
  kg_lanes_local_operator(&a->batch.reference, &e, z_inverse);
  build_lift(a, &e, group, part, sign, w);
  kg_lanes_cholesky(z.n_modes, z_inverse);
  kg_lanes_forward(z.n_modes, z.n_trace + 1, z_inverse, w);
  condense(a, &e, group, part, sign, &keep, w);
  for (int row = 0; a->reduced && row < KG_REDUCED_FLUX; ++row)
    *kg_lanes_row(a->local, group, kg_local_matrices_rows(a), row, part) =
        keep * e.trace[kg_reduced_trace(row)];
}

kedge_status kg_local_matrices_host(kedge_context *ctx, const kg_local_matrices_args *args)
{
  const kg_sizes z = args->batch.reference.size;
  const size_t packs =
      (size_t)z.n_modes * (z.n_modes + 1) / 2 + (size_t)z.n_modes * (z.n_trace + 1);
  return kg_lanes_run(ctx, args->batch.count.n_groups, packs, pack_of_elements, args);
}
