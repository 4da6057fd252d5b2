// Host code: eight elements at a time in SIMD lanes, modes of degree P eliminated
// (docs/math.md#by-hand).
#include "ops/local/triangle/local_solve.h"

#include "device/context.h"
#include "ops/local/triangle/lanes.h"

enum { TRACE_MAX = 3 * (KEDGE_ORDER_MAX + 1) };

/// The trace as the elements see it: out[n_trace], signs applied.
static void gather_trace(const kg_batch *batch, const double *trace, int64_t group, int part,
                         kg_pack *out)
{
  const int m = batch->reference.size.n_edge;
  for (int l = 0; l < 3; ++l)
    for (int i = 0; i < KG_PACK; ++i) {
      const uint32_t side =
          batch->arrays.side_edge[(group * 3 + l) * KG_LANES + part * KG_PACK + i];
      const double *modes = trace + (size_t)(side >> 1) * m;
      for (int k = 0; k < m; ++k) out[l * m + k][i] = kg_side_sign(side, k) * modes[k];
    }
}

/// x = f^e + R lambda.
static void right_hand_side(const kg_local_solve_args *a, const kg_element_pack *e, int64_t group,
                            int part, const kg_pack *lambda, kg_pack *x)
{
  const kg_reference *ref = &a->batch.reference;
  const int n = ref->size.n_trace, m = ref->size.n_edge;
  kg_pack by_tau[TRACE_MAX], by_r[TRACE_MAX], by_s[TRACE_MAX];
  for (int c = 0; c < n; ++c) {
    by_tau[c] = e->tau[c / m] * lambda[c];
    by_r[c] = e->lift_r[c / m] * lambda[c];
    by_s[c] = e->lift_s[c / m] * lambda[c];
  }
  for (int i = 0; i < ref->size.n_modes; ++i) {
    kg_pack sum = *kg_lanes_row_const(a->load, group, ref->size.n_modes, i, part);
    for (int c = 0; c < n; ++c)
      sum += ref->lift[i * n + c] * by_tau[c] + ref->lift_r[i * n + c] * by_r[c] +
             ref->lift_s[i * n + c] * by_s[c];
    x[i] = sum;
  }
}

/// Z^-1 u = f + R lambda, in place. `scratch` holds K (K + 1) / 2 packs.
static void solve(const kg_reference *ref, const kg_element_pack *e, kg_pack *u, kg_pack *scratch)
{
  const int K = ref->size.n_rotation, m = ref->size.n_edge, n = ref->size.n_trace;
  kg_pack edge[TRACE_MAX];
  kg_top_pack top;
  kg_lanes_top(ref->size.order, e, &top);
  kg_lanes_local_operator(ref, e, &top, scratch);
  kg_lanes_eliminate(ref, e, &top, u, edge);
  kg_lanes_cholesky(K, scratch);
  kg_lanes_forward(K, 1, scratch, u);
  kg_lanes_backward(K, scratch, u);
  for (int c = 0; c < n; ++c) {
    kg_pack trace = {0};
    for (int i = 0; i < K; ++i) trace += ref->lift[i * n + c] * u[i];
    edge[c] = e->tau[c / m] * trace;
  }
  for (int i = K; i < ref->size.n_modes; ++i) {
    for (int c = 0; c < n; ++c) u[i] -= ref->lift[i * n + c] * edge[c];
    u[i] *= top.per_c;
  }
}

/// q_k = F~_k lambda / J - grad_r[k] Dr^T u - grad_s[k] Ds^T u.
static void recover_flux(const kg_local_solve_args *a, const kg_element_pack *e, int64_t g,
                         int part, const kg_pack *lambda, const kg_pack *u)
{
  const kg_reference *ref = &a->batch.reference;
  const int n = ref->size.n_trace, m = ref->size.n_edge, N = ref->size.n_modes;
  kg_pack by_x[TRACE_MAX], by_y[TRACE_MAX];
  for (int c = 0; c < n; ++c) {
    by_x[c] = e->half_normal[c / m][0] / e->jacobian * lambda[c];
    by_y[c] = e->half_normal[c / m][1] / e->jacobian * lambda[c];
  }
  for (int i = 0; i < N; ++i) {
    kg_pack x = {0}, y = {0}, r = {0}, s = {0};
    for (int c = 0; c < n; ++c) {
      x += ref->lift[i * n + c] * by_x[c];
      y += ref->lift[i * n + c] * by_y[c];
    }
    for (int j = 0; j < N; ++j) {
      r += ref->gradient_r[i * N + j] * u[j];
      s += ref->gradient_s[i * N + j] * u[j];
    }
    *kg_lanes_row(a->q, g, 2 * N, i, part) = x - e->grad_r[0] * r - e->grad_s[0] * s;
    *kg_lanes_row(a->q, g, 2 * N, N + i, part) = y - e->grad_r[1] * r - e->grad_s[1] * s;
  }
}

static void pack_of_elements(const void *args, int64_t g, int part, kg_pack *scratch)
{
  const kg_local_solve_args *a = args;
  const int N = a->batch.reference.size.n_modes;
  const int64_t group = a->first_group + g;
  kg_element_pack e;
  kg_lanes_elements(&a->batch.arrays, &a->materials, group, part, &e);
  kg_pack lambda[TRACE_MAX];
  gather_trace(&a->batch, a->trace, group, part, lambda);
  kg_pack *u = scratch;
  right_hand_side(a, &e, group, part, lambda, u);
  solve(&a->batch.reference, &e, u, scratch + N);
  for (int i = 0; i < N; ++i) *kg_lanes_row(a->u, g, N, i, part) = u[i];
  if (a->q) recover_flux(a, &e, g, part, lambda, u);
}

kedge_status kg_local_solve_host(kedge_context *ctx, const kg_local_solve_args *args)
{
  const kg_sizes z = args->batch.reference.size;
  const size_t N = (size_t)z.n_modes, K = (size_t)z.n_rotation;
  return kg_lanes_run(ctx, args->n_groups, N + K * (K + 1) / 2, pack_of_elements, args);
}

KG_OPERATOR(kg_local_solve, kg_local_solve_args)

kg_cost kg_local_solve_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace, m = size.n_edge, K = size.n_rotation;
  const double lower = (N * N - m * (m + 1) * (2 * m + 1) / 6) / 2;  // pairs of unequal degree
  const double build = 9 * K * (K + 1) / 2 + K;
  const double trace = 2 * N * n + 10 * N + 4 * lower;  // F_l lambda_l, Dr and Ds of what they make
  const double top = 6 * K * m;                         // modes of degree P: B, B g, B^T x
  const double algebra = K * K * K / 3 + 2 * K * K;     // Cholesky, two triangular solves
  const double flux = 4 * lower + 8 * N;                // Dr^T u, Ds^T u
  const double bytes = 8.0 * (4 * N + n / 2.0) + 3 * 8 + 3 * 4 + 8;
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + trace + top + algebra + flux) * (double)n_elements};
}
