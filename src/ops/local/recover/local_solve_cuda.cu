// local_solve_cuda.cu: u = Z (f + R lambda), q from u and lambda, by one of two ways.
#include "ops/by_order.cuh"
#include "ops/local/recover/local_solve_products.cuh"
#include "ops/local/recover/local_solve_thread.cuh"

extern "C" kedge_status kg_local_solve_cuda(kedge_context *ctx, const kg_local_solve_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  return kg_with_order(a->batch.reference.size.order, [&](auto p) {
    if constexpr (p() <= 5)
      return kg::launch_elements<p(), kg::RECOVER_THREADS>(ctx, "local_solve", a->n_groups,
                                                           kg::local_solve_thread<p()>, *a);
    else
      return kg::launch_recover_products<p()>(ctx, *a);
  });
}
