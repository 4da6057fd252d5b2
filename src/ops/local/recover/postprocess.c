#include "ops/local/recover/postprocess.h"

#include <math.h>

#include "device/context.h"
#include "ops/local/triangle/lanes.h"

/// Gram matrix of the tangents, turned by the diffusion: 11, 12, 22.
static void gram(const kg_element_pack *e, kg_pack h[3])
{
  h[0] = e->turned[0][0] * e->turned[0][0] + e->turned[0][1] * e->turned[0][1];
  h[1] = e->turned[0][0] * e->turned[1][0] + e->turned[0][1] * e->turned[1][1];
  h[2] = e->turned[1][0] * e->turned[1][0] + e->turned[1][1] * e->turned[1][1];
}

/// y = (T H T^T)^-1 T p; `mass` takes the matrix.
static void solve_rotation(const kg_reference *ref, const kg_pack h[3], const kg_pack *p,
                           kg_pack *mass, kg_pack *y)
{
  const int N = ref->size.n_modes, K = ref->size.n_rotation;
  const kg_pack difference = h[0] - h[2];
  for (int k = 0; k < K * (K + 1) / 2; ++k)
    mass[k] = difference * ref->rotation_mass[0][k] + h[1] * ref->rotation_mass[1][k];
  for (int i = 0; i < K; ++i) {
    mass[i * (i + 1) / 2 + i] += h[2];
    kg_pack sum = {0};
    for (int j = 0; j < N; ++j)
      sum += ref->rotation[0][j * K + i] * p[j] + ref->rotation[1][j * K + i] * p[N + j];
    y[i] = sum;
  }
  kg_lanes_cholesky(K, mass);
  kg_lanes_forward(K, 1, mass, y);
  kg_lanes_backward(K, mass, y);
}

/// p -= H T^T y: what is left is a gradient.
static void subtract_rotation(const kg_reference *ref, const kg_pack h[3], const kg_pack *y,
                              kg_pack *p)
{
  const int N = ref->size.n_modes, K = ref->size.n_rotation;
  for (int j = 0; j < N; ++j) {
    kg_pack first = {0}, second = {0};
    for (int i = 0; i < K; ++i) {
      first += ref->rotation[0][j * K + i] * y[i];
      second += ref->rotation[1][j * K + i] * y[i];
    }
    p[j] -= h[0] * first + h[1] * second;
    p[N + j] -= h[1] * first + h[2] * second;
  }
}

static void pack_of_elements(const void *args, int64_t g, int part, kg_pack *scratch)
{
  const kg_postprocess_args *a = args;
  const kg_reference *ref = &a->batch.reference;
  const int N = ref->size.n_modes, S = ref->size.n_star, K = ref->size.n_rotation;
  kg_element_pack e;
  kg_lanes_elements(&a->batch.arrays, &a->materials, a->first_group + g, part, &e);
  kg_pack *p = scratch, *x = p + 2 * N, *y = x + S, *mass = y + K, h[3];
  for (int j = 0; j < N; ++j) {
    const kg_pack qx = *kg_lanes_row_const(a->q, g, 2 * N, j, part);
    const kg_pack qy = *kg_lanes_row_const(a->q, g, 2 * N, N + j, part);
    p[j] = e.tangent[0][0] * qx + e.tangent[0][1] * qy;
    p[N + j] = e.tangent[1][0] * qx + e.tangent[1][1] * qy;
  }
  gram(&e, h);
  solve_rotation(ref, h, p, mass, y);
  subtract_rotation(ref, h, y, p);
  for (int i = 0; i < S - 1; ++i) {
    kg_pack sum = {0};
    for (int j = 0; j < N; ++j)
      sum +=
          ref->potential[0][j * (S - 1) + i] * p[j] + ref->potential[1][j * (S - 1) + i] * p[N + j];
    x[i + 1] = sum;
  }
  x[0] = *kg_lanes_row_const(a->u, g, N, 0, part);

  kg_pack difference = {0};
  for (int i = 0; i < S; ++i) {
    *kg_lanes_row(a->u_star, g, S, i, part) = x[i];
    kg_pack d = x[i];
    if (i < N) d -= *kg_lanes_row_const(a->u, g, N, i, part);
    difference += d * d;
  }
  kg_pack *indicator = kg_lanes_row(a->indicator, g, 1, 0, part);
  for (int i = 0; i < KG_PACK; ++i) (*indicator)[i] = sqrt(e.jacobian[i] * difference[i]);
}

kedge_status kg_postprocess_host(kedge_context *ctx, const kg_postprocess_args *args)
{
  const size_t N = (size_t)args->batch.reference.size.n_modes;
  const size_t S = (size_t)args->batch.reference.size.n_star;
  const size_t K = (size_t)args->batch.reference.size.n_rotation;
  const size_t packs = 2 * N + S + K + K * (K + 1) / 2;
  return kg_lanes_run(ctx, args->n_groups, packs, pack_of_elements, args);
}

KG_OPERATOR(kg_postprocess, kg_postprocess_args)

kg_cost kg_postprocess_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, S = size.n_star - 1, K = size.n_rotation;  // the mean is known
  const double A = (size.order + 1) * (size.order + 1) / 4, B = K - A;  // A rotations are diagonal
  const double solve = 10 * A + A * B * (B + 1) + 5 * A * B + B * B * B / 3 + 2 * B * B;
  const double products = 4 * N * K + 2 * S * N;  // T p, T^T y, the potential
  const double flops = solve + products + 14 * N + 3 * S;
  const double bytes = 8.0 * (3 * N + S + 2) + 3 * 4 + 8;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}
