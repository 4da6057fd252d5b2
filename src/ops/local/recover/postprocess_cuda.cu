// postprocess_cuda.cu: u* from q and the mean of u; the indicator ||u* - u||; by one of two ways.
#include "ops/local/recover/postprocess_products.cuh"
#include "ops/local/recover/postprocess_thread.cuh"

namespace
{

constexpr kedge_status (*by_order[])(kedge_context *, const kg_postprocess_args &) = {
    kg::launch_star_thread<1>,    kg::launch_star_thread<2>,    kg::launch_star_thread<3>,
    kg::launch_star_thread<4>,    kg::launch_star_thread<5>,    kg::launch_star_products<6>,
    kg::launch_star_products<7>,  kg::launch_star_products<8>,  kg::launch_star_products<9>,
    kg::launch_star_products<10>, kg::launch_star_products<11>, kg::launch_star_products<12>};
static_assert(sizeof by_order / sizeof *by_order == KEDGE_ORDER_MAX, "one entry per order");

}  // namespace

extern "C" kedge_status kg_postprocess_cuda(kedge_context *ctx, const kg_postprocess_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  return by_order[a->batch.reference.size.order - 1](ctx, *a);
}
