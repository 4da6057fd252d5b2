#include "ops/element_blocks.h"

#include "core/context.h"
#include "ops/fault.h"

/// Where the element lies whose block has no inverse, and what to do.
static kedge_status refuse(kedge_context *ctx, const kg_element_blocks_args *args, int32_t e)
{
  double centre[2] = {0};
  for (int l = 0; l < 3; ++l) {
    double xy[2];
    KG_TRY(kg_fault_corner(ctx, &args->batch.arrays, e, l, xy));
    for (int i = 0; i < 2; ++i) centre[i] += xy[i] / 3;
  }
  return KG_FAIL(ctx, KEDGE_ERR_NUMERIC,
                 "smoother = element cannot invert the block of the element around (%g, %g): it is "
                 "not positive definite in double precision%s; check the mesh there for nearly "
                 "degenerate elements, choose a stabilization nearer to diffusion / h, or take "
                 "preconditioner = "
                 "jacobi",
                 centre[0], centre[1], kg_number_remedy(args->number));
}

kedge_status kg_element_blocks(kedge_context *ctx, const kg_element_blocks_args *args)
{
  static kedge_status (*const impl[][KEDGE_BACKEND_COUNT])(kedge_context *,
                                                           const kg_element_blocks_args *) =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_element_blocks_host, kg_element_blocks_cuda);
  int32_t fault;
  KG_TRY(kg_fault_clear(ctx, args->fault));
  KG_TRY(impl[args->number][ctx->backend](ctx, args));
  KG_TRY(kg_fault_read(ctx, args->fault, &fault));
  return fault == KG_NO_FAULT ? KEDGE_OK : refuse(ctx, args, fault);
}

/// K^e and the parts of the three elements beyond its edges are read, the inverse is written.
kg_cost kg_element_blocks_cost(kg_sizes size, const kg_trace_counts *count, kg_number local,
                               kg_number number)
{
  const double from = (double)kg_number_bytes(local), real = (double)kg_number_bytes(number);
  const double m = size.n_edge, n = size.n_trace, packed = size.n_packed;
  const double parts = 3 * m * (m + 1) / 2;
  return (kg_cost){.bytes = (from * (packed + parts) + real * packed + 36.0) * count->n_elements,
                   .flops = (n * n * n + parts + 2 * packed) * count->n_elements};
}
