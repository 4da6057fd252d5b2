// aggregate_cuda.cu: aggregates of the rows of a matrix. Thread = row. The only atomic sets a flag.
#include "device/cuda_each.cuh"
#include "precondition/amg/aggregate.h"

namespace
{
enum { BLOCK = 256 };

__global__ void __launch_bounds__(BLOCK) decide_kernel(const kg_aggregate_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  const bool decided = i >= a.matrix.n_rows || kg_aggregate_decide(&a, i);
  if (__syncthreads_or(!decided) && threadIdx.x == 0) atomicExch(a.undecided, 1);
}

template <auto DO>
kedge_status each_row(kedge_context *ctx, const kg_aggregate_args *a, const char *name)
{
  return kg_do_each<BLOCK, DO>(ctx, name, a->matrix.n_rows, *a);
}
}  // namespace

extern "C" kedge_status kg_aggregate_begin_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  return each_row<kg_aggregate_begin>(ctx, args, "aggregate_begin");
}

extern "C" kedge_status kg_aggregate_round_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  KG_TRY(each_row<kg_aggregate_look>(ctx, args, "aggregate_near"));
  return kg_launch_each<BLOCK>(ctx, "aggregate_decide", args->matrix.n_rows, decide_kernel, *args);
}

extern "C" kedge_status kg_aggregate_roots_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  return each_row<kg_aggregate_count_root>(ctx, args, "aggregate_roots");
}

extern "C" kedge_status kg_aggregate_join_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  KG_TRY(each_row<kg_aggregate_join_roots>(ctx, args, "aggregate_join_roots"));
  return each_row<kg_aggregate_join_members>(ctx, args, "aggregate_join_members");
}
