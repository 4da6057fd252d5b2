#include "ops/local/triangle/lanes.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "device/loop.h"
#include "core/memory.h"

_Static_assert(sizeof(kg_element_pack) == KG_PACK * sizeof(kg_element), "same members");

void kg_lanes_elements(const kg_trace_arrays *arrays, const kg_materials *materials, int64_t group,
                       int part, kg_element_pack *out)
{
  enum { MEMBERS = sizeof(kg_element) / sizeof(double) };
  double(*to)[KG_PACK] = (double(*)[KG_PACK])out;
  for (int i = 0; i < KG_PACK; ++i) {
    const kg_element e = kg_element_at(arrays, group, part * KG_PACK + i, materials);
    const double *from = (const double *)&e;
    for (int k = 0; k < MEMBERS; ++k) to[k][i] = from[k];
  }
}

void kg_lanes_top(int order, const kg_element_pack *e, kg_top_pack *top)
{
  const double m = order + 1;
  const kg_pack *tau = e->tau;
  top->per_c = 1.0 / (e->mass + m * (tau[0] + tau[1] + tau[2]));
  for (int l = 0; l < 3; ++l) {
    const kg_pack of_others = tau[(l + 1) % 3] + tau[(l + 2) % 3];
    top->edge[l] = tau[l] * (e->mass + m * of_others) * top->per_c;
    for (int k = 0; k < l; ++k) top->pair[l + k - 1] = -tau[l] * tau[k] * top->per_c;
  }
}

void kg_lanes_local_operator(const kg_reference *ref, const kg_element_pack *e,
                             const kg_top_pack *top, kg_pack *a)
{
  const int K = ref->size.n_rotation;
  // B_0 B_2^T + B_2 B_0^T is eliminated[0], negative for modes of different parity along the base.
  const kg_pack base[2] = {top->pair[0] + top->pair[1], top->pair[0] - top->pair[1]};
  int parity[(KEDGE_ORDER_MAX + 1) * KEDGE_ORDER_MAX / 2];
  for (int degree = 0, i = 0; i < K; ++degree)
    for (int along = 0; along <= degree; ++along) parity[i++] = along % 2;
  for (int i = 0, k = 0; i < K; ++i) {
    for (int j = 0; j <= i; ++j, ++k)
      a[k] = e->stiffness[0] * ref->stiffness[0][k] + e->stiffness[1] * ref->stiffness[1][k] +
             e->stiffness[2] * ref->stiffness[2][k] + top->edge[0] * ref->edge_mass[0][k] +
             top->edge[1] * ref->edge_mass[1][k] + top->edge[2] * ref->edge_mass[2][k] +
             base[parity[i] ^ parity[j]] * ref->eliminated[0][k] +
             top->pair[2] * ref->eliminated[1][k];
    a[k - 1] += e->mass;
  }
}

void kg_lanes_eliminate(const kg_reference *ref, const kg_element_pack *e, const kg_top_pack *top,
                        kg_pack *f, kg_pack *edge)
{
  const int K = ref->size.n_rotation, m = ref->size.n_edge, n = ref->size.n_trace;
  for (int c = 0; c < n; ++c) {
    kg_pack sum = {0};
    for (int i = K; i < ref->size.n_modes; ++i) sum += ref->lift[i * n + c] * f[i];
    edge[c] = e->tau[c / m] * top->per_c * sum;
  }
  for (int i = 0; i < K; ++i)
    for (int c = 0; c < n; ++c) f[i] -= ref->lift[i * n + c] * edge[c];
}

static inline void set_reciprocal_root(kg_pack *result, const kg_pack *a)
{
  for (int i = 0; i < KG_PACK; ++i) (*result)[i] = 1.0 / sqrt((*a)[i]);
}

/// Row by row; four columns at a time share the loads of row i.
void kg_lanes_cholesky(int n, kg_pack *a)
{
  for (int i = 0; i < n; ++i) {
    kg_pack *ai = a + i * (i + 1) / 2;
    int j = 0;
    for (; j + 4 <= i; j += 4) {
      const kg_pack *b0 = a + j * (j + 1) / 2, *b1 = b0 + j + 1, *b2 = b1 + j + 2, *b3 = b2 + j + 3;
      kg_pack s0 = ai[j], s1 = ai[j + 1], s2 = ai[j + 2], s3 = ai[j + 3];
      for (int k = 0; k < j; ++k) {
        s0 -= ai[k] * b0[k];
        s1 -= ai[k] * b1[k];
        s2 -= ai[k] * b2[k];
        s3 -= ai[k] * b3[k];
      }
      s0 *= b0[j];
      s1 = (s1 - s0 * b1[j]) * b1[j + 1];
      s2 = (s2 - s0 * b2[j] - s1 * b2[j + 1]) * b2[j + 2];
      s3 = (s3 - s0 * b3[j] - s1 * b3[j + 1] - s2 * b3[j + 2]) * b3[j + 3];
      ai[j] = s0;
      ai[j + 1] = s1;
      ai[j + 2] = s2;
      ai[j + 3] = s3;
    }
    for (; j < i; ++j) {
      const kg_pack *aj = a + j * (j + 1) / 2;
      kg_pack sum = ai[j];
      for (int k = 0; k < j; ++k) sum -= ai[k] * aj[k];
      ai[j] = sum * aj[j];
    }
    kg_pack sum = ai[i];
    for (int k = 0; k < i; ++k) sum -= ai[k] * ai[k];
    set_reciprocal_root(ai + i, &sum);
  }
}

void kg_lanes_forward(int n, int cols, const kg_pack *l, kg_pack *w)
{
  for (int i = 0; i < n; ++i) {
    const kg_pack *li = l + i * (i + 1) / 2;
    kg_pack *wi = w + (size_t)i * cols;
    int c = 0;
    for (; c + 4 <= cols; c += 4) {
      kg_pack s0 = wi[c], s1 = wi[c + 1], s2 = wi[c + 2], s3 = wi[c + 3];
      const kg_pack *wk = w + c;
      for (int k = 0; k < i; ++k, wk += cols) {
        s0 -= li[k] * wk[0];
        s1 -= li[k] * wk[1];
        s2 -= li[k] * wk[2];
        s3 -= li[k] * wk[3];
      }
      wi[c] = s0 * li[i];
      wi[c + 1] = s1 * li[i];
      wi[c + 2] = s2 * li[i];
      wi[c + 3] = s3 * li[i];
    }
    for (; c < cols; ++c) {
      kg_pack sum = wi[c];
      for (int k = 0; k < i; ++k) sum -= li[k] * w[(size_t)k * cols + c];
      wi[c] = sum * li[i];
    }
  }
}

void kg_lanes_backward(int n, const kg_pack *l, kg_pack *x)
{
  for (int i = n - 1; i >= 0; --i) {
    const kg_pack *li = l + i * (i + 1) / 2;
    x[i] *= li[i];
    for (int k = 0; k < i; ++k) x[k] -= li[k] * x[i];
  }
}

kedge_status kg_lanes_run(kedge_context *ctx, int32_t n_groups, size_t n_packs, kg_lanes_body *body,
                          const void *args)
{
  const int threads = kg_loop_threads(ctx, n_groups, 8 * KG_LANES * (int64_t)n_packs);
  kg_pack *scratch;
  KG_TRY(kg_host_alloc(ctx, n_packs * (size_t)threads, sizeof *scratch, &scratch));
#pragma omp parallel num_threads(threads)
  {
    kg_pack *mine = scratch + n_packs * (size_t)omp_get_thread_num();
#pragma omp for schedule(static)
    for (int32_t group = 0; group < n_groups; ++group)
      for (int part = 0; part < KG_PACKS; ++part) body(args, group, part, mine);
  }
  free(scratch);
  return KEDGE_OK;
}
