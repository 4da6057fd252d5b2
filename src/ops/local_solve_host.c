#include <math.h>

#include "ops/lanes.h"
#include "ops/local_solve.h"

enum { TRACE_MAX = 3 * (KEDGE_ORDER_MAX + 1) };

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
  kg_lanes_elements(&a->batch.arrays, a->material, group, part, &e);
  kg_pack lambda[TRACE_MAX];
  kg_lanes_gather_trace(&a->batch, a->trace, group, part, lambda);
  kg_pack *u = scratch, *z_inverse = scratch + N;
  kg_lanes_local_operator(&a->batch.reference, &e, z_inverse);
  right_hand_side(a, &e, group, part, lambda, u);
  kg_lanes_cholesky(N, z_inverse);
  kg_lanes_forward(N, 1, z_inverse, u);
  kg_lanes_backward(N, z_inverse, u);
  for (int i = 0; i < N; ++i) *kg_lanes_row(a->u, g, N, i, part) = u[i];
  recover_flux(a, &e, g, part, lambda, u);
}

kedge_status kg_local_solve_host(kedge_context *ctx, const kg_local_solve_args *args)
{
  const size_t N = (size_t)args->batch.reference.size.n_modes, packs = N + N * (N + 1) / 2;
  return kg_lanes_run(ctx, args->n_groups, packs, pack_of_elements, args);
}
