// postprocess_cuda.cu: u* from q and the mean of u; the indicator ||u* - u||; by one of two ways.
#include "ops/by_order.cuh"
#include "ops/local/recover/postprocess_products.cuh"
#include "ops/local/recover/postprocess_thread.cuh"

extern "C" kedge_status kg_postprocess_cuda(kedge_context *ctx, const kg_postprocess_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  return kg_with_order(a->batch.reference.size.order, [&](auto p) {
    if constexpr (p() <= 5)
      return kg::launch_elements<p(), kg::STAR_THREADS>(ctx, "postprocess", a->n_groups,
                                                        kg::postprocess_thread<p()>, *a);
    else
      return kg::launch_star_products<p()>(ctx, *a);
  });
}
