#include "problem/elements.h"

#include "device/backend.h"
#include "device/loop.h"

static kedge_status look(kedge_context *ctx, int64_t n, const kg_element_coefficients *c,
                         kg_element_summary *out)
{
  int64_t bad = n;
  double diffusion = 0.0, reaction = 0.0;
#pragma omp parallel for reduction(min                                     \
                                   : bad) reduction(max                    \
                                                    : diffusion, reaction) \
    num_threads(kg_loop_threads(ctx, n, 4))
  for (int64_t e = 0; e < n; ++e) {
    double value[KG_COEFFICIENTS_MAX];
    kg_coefficients_of(c, e, value);
    if (!kg_is_elliptic(c->dimension, value) && e < bad) bad = e;
    diffusion = fmax(diffusion, kg_most_diffusion(c->dimension, value));
    reaction = fmax(reaction, value[kg_tensor_numbers(c->dimension)]);
  }
  *out = (kg_element_summary){bad < n ? bad : -1, {diffusion, reaction}};
  return KEDGE_OK;
}

kedge_status kg_element_coefficients_look(kedge_context *ctx, int64_t n,
                                          const kg_element_coefficients *c, kg_element_summary *out)
{
  static kedge_status (*const there)(kedge_context *, int64_t, const kg_element_coefficients *,
                                     kg_element_summary *) =
      KG_IF_CUDA(kg_element_coefficients_look_cuda);
  return (ctx->backend == KEDGE_BACKEND_CUDA ? there : look)(ctx, n, c, out);
}
