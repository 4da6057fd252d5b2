// midpoints_cuda.cu: levels of a mesh that was refined (midpoints.h). Thread = row: of the next
// matrix where that is made or restricted to, else of this one. One writer a row, sums in order.
// Cost    bound by memory: rows of the next matrix lie in a quarter of this one's, which is read
//         whole where lines of memory have one of each.
#include "device/cuda_each.cuh"
#include "precondition/amg/midpoints.h"

namespace
{
enum { BLOCK = 128 };

__global__ void __launch_bounds__(BLOCK)
    fill_kernel(const kg_midpoints_make_args m, const kg_csr place)
{
  const int32_t i = (int32_t)kg_thread_number();
  if (i < m.n_next)
    kg_midpoints_row(&m, i, m.work.begin, &place);
  else if (i == m.n_next)
    place.row[i] = (int32_t)m.work.begin[i];
}
}  // namespace

extern "C" kedge_status kg_midpoints_ends_cuda(kedge_context *ctx,
                                               const kg_midpoints_make_args *args)
{
  KG_TRY((kg_do_each<BLOCK, kg_midpoints_number>(ctx, "midpoints_number", args->n_next, *args)));
  return kg_do_each<BLOCK, kg_midpoints_ends>(ctx, "midpoints_ends", args->a.n_rows, *args);
}

extern "C" kedge_status kg_midpoints_fill_cuda(kedge_context *ctx,
                                               const kg_midpoints_make_args *args,
                                               const kg_csr *place)
{
  return kg_launch_each<BLOCK>(ctx, "midpoints_fill", (int64_t)args->n_next + 1, fill_kernel, *args,
                               *place);
}

extern "C" kedge_status kg_midpoints_restrict_cuda(kedge_context *ctx,
                                                   const kg_midpoints_apply_args *args)
{
  if (args->many)
    return kg_do_each<BLOCK, kg_midpoints_restrict_many>(
        ctx, "midpoints_restrict", (int64_t)args->midpoints.n_next * KG_VECTORS, *args);
  return kg_do_each<BLOCK, kg_midpoints_restrict_row>(ctx, "midpoints_restrict",
                                                      args->midpoints.n_next, *args);
}

extern "C" kedge_status kg_midpoints_prolong_cuda(kedge_context *ctx,
                                                  const kg_midpoints_apply_args *args)
{
  if (args->many)
    return kg_do_each<BLOCK, kg_midpoints_prolong_many>(
        ctx, "midpoints_prolong", (int64_t)args->a.n_rows * KG_VECTORS, *args);
  return kg_do_each<BLOCK, kg_midpoints_prolong_row>(ctx, "midpoints_prolong", args->a.n_rows,
                                                     *args);
}
