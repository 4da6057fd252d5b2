#include "ops/local_reduced.h"

#include "core/context.h"

kedge_status kg_local_reduce(kedge_context *ctx, const kg_local_reduce_args *args)
{
  static kedge_status (*const impl[][KEDGE_BACKEND_COUNT])(kedge_context *,
                                                           const kg_local_reduce_args *) =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_local_reduce_host, kg_local_reduce_cuda);
  return impl[args->number][ctx->backend](ctx, args);
}

/// Groups [first, end) may be reduced side by side if what they write ends before what they read begins,
/// which is `gap` behind where they write; a group alone always may, once those before it are done. So the
/// number of groups grows like powers of packed / reduced.
kedge_status kg_local_reduce_down(kedge_context *ctx, const kg_batch *batch, const double *from,
                                  double *to)
{
  const int64_t packed = batch->reference.size.n_packed, n_groups = batch->count.n_groups;
  const int64_t reduced = kg_reduced_rows(batch->reference.size), gap = (from - to) / KG_LANES;
  for (int64_t first = 0, end; first < n_groups; first = end) {
    end = (first * packed + gap) / reduced;
    if (end <= first) end = first + 1;
    if (end > n_groups) end = n_groups;
    KG_TRY(kg_local_reduce(ctx, &(kg_local_reduce_args){.batch = *batch,
                                                        .from = from,
                                                        .number = KG_DOUBLE,
                                                        .to = to,
                                                        .first_group = (int32_t)first,
                                                        .n_groups = (int32_t)(end - first)}));
  }
  return KEDGE_OK;
}

/// The entries of mode 0, of which fluxes are made, and those that stay: 15 and n' (n' + 1) / 2.
kg_cost kg_local_reduce_cost(kg_sizes size, int64_t n_elements, kg_number number)
{
  const double rows = kg_reduced_rows(size);
  return (kg_cost){
      .bytes = (8.0 * (rows + 12.0) + (double)kg_number_bytes(number) * rows) * (double)n_elements,
      .flops = 3.0 * 27.0 * (double)n_elements};
}
