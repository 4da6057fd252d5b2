#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "ops/lanes.h"
#include "ops/postprocess.h"

/// The stiffness matrix over J of all modes but the constant, packed.
static void build_stiffness(const kg_reference *ref, const kg_element_pack *e, kg_pack *s)
{
  const kg_pack rr = e->grad_r[0] * e->grad_r[0] + e->grad_r[1] * e->grad_r[1];
  const kg_pack rs = e->grad_r[0] * e->grad_s[0] + e->grad_r[1] * e->grad_s[1];
  const kg_pack ss = e->grad_s[0] * e->grad_s[0] + e->grad_s[1] * e->grad_s[1];
  for (int i = 1; i < ref->size.n_star; ++i)
    for (int j = 1; j <= i; ++j) {
      const int k = i * (i + 1) / 2 + j;
      s[(i - 1) * i / 2 + j - 1] = rr * ref->star_stiffness[0][k] + rs * ref->star_stiffness[1][k] +
                                   ss * ref->star_stiffness[2][k];
    }
}

static void pack_of_elements(const kg_postprocess_args *a, int64_t g, int part, kg_pack *scratch)
{
  const kg_reference *ref = &a->batch.reference;
  const int N = ref->size.n_modes, S = ref->size.n_star;
  kg_element_pack e;
  kg_lanes_elements(&a->batch.arrays, (kg_material){.diffusion = 1.0}, a->first_group + g, part,
                    &e);
  kg_pack *along_r = scratch, *along_s = along_r + N, *x = along_s + N, *s = x + S;
  for (int j = 0; j < N; ++j) {
    const kg_pack qx = *kg_lanes_row_const(a->q, g, 2 * N, j, part);
    const kg_pack qy = *kg_lanes_row_const(a->q, g, 2 * N, N + j, part);
    along_r[j] = e.grad_r[0] * qx + e.grad_r[1] * qy;
    along_s[j] = e.grad_s[0] * qx + e.grad_s[1] * qy;
  }
  for (int i = 1; i < S; ++i) {
    kg_pack sum = {0};
    for (int j = 0; j < N; ++j)
      sum += ref->star_gradient_r[i * N + j] * along_r[j] +
             ref->star_gradient_s[i * N + j] * along_s[j];
    x[i] = sum;
  }
  build_stiffness(ref, &e, s);
  kg_lanes_cholesky(S - 1, s);
  kg_lanes_forward(S - 1, 1, s, x + 1);
  kg_lanes_backward(S - 1, s, x + 1);
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
  const size_t packs = 2 * N + S + S * (S - 1) / 2;
  kg_pack *scratch;
  KG_TRY(kg_host_alloc(ctx, packs * (size_t)ctx->threads, sizeof *scratch, &scratch));
#pragma omp parallel num_threads(ctx->threads)
  {
    kg_pack *mine = scratch + packs * (size_t)omp_get_thread_num();
#pragma omp for schedule(static)
    for (int32_t g = 0; g < args->n_groups; ++g)
      for (int part = 0; part < KG_PACKS; ++part) pack_of_elements(args, g, part, mine);
  }
  free(scratch);
  return KEDGE_OK;
}
