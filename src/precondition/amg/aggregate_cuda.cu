// aggregate_cuda.cu: aggregates of the rows of a matrix. Thread = row. The only atomic sets a flag.
#include "device/cuda_each.cuh"
#include "precondition/amg/aggregate.h"

namespace
{
enum { BLOCK = 256 };

__global__ void __launch_bounds__(BLOCK) begin_kernel(const kg_aggregate_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  if (i < a.matrix.n_rows) kg_aggregate_begin(&a, i);
}

__global__ void __launch_bounds__(BLOCK) near_kernel(const kg_aggregate_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  if (i < a.matrix.n_rows) a.key_near[i] = kg_highest_key(&a, a.key, i);
}

__global__ void __launch_bounds__(BLOCK) decide_kernel(const kg_aggregate_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  const bool decided = i >= a.matrix.n_rows || kg_aggregate_decide(&a, i);
  if (__syncthreads_or(!decided) && threadIdx.x == 0) atomicExch(a.undecided, 1);
}

__global__ void __launch_bounds__(BLOCK) roots_kernel(const kg_aggregate_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  if (i < a.matrix.n_rows) a.length[i] = kg_is_root(&a, i);
}

__global__ void __launch_bounds__(BLOCK) join_roots_kernel(const kg_aggregate_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  if (i < a.matrix.n_rows) a.length[i] = kg_aggregate_of_roots(&a, i);
}

__global__ void __launch_bounds__(BLOCK) join_members_kernel(const kg_aggregate_args a)
{
  const int32_t i = (int32_t)kg_thread_number();
  if (i < a.matrix.n_rows) a.aggregate[i] = kg_aggregate_of_members(&a, a.length, i);
}

kedge_status launch(kedge_context *ctx, const kg_aggregate_args *a,
                    void (*kernel)(kg_aggregate_args), const char *name)
{
  return kg_launch_each<BLOCK>(ctx, name, a->matrix.n_rows, kernel, *a);
}
}  // namespace

extern "C" kedge_status kg_aggregate_begin_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  return launch(ctx, args, begin_kernel, "aggregate_begin");
}

extern "C" kedge_status kg_aggregate_round_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  KG_TRY(launch(ctx, args, near_kernel, "aggregate_near"));
  return launch(ctx, args, decide_kernel, "aggregate_decide");
}

extern "C" kedge_status kg_aggregate_roots_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  return launch(ctx, args, roots_kernel, "aggregate_roots");
}

/// Roots have their numbers: `length` takes the aggregates of their neighbours.
extern "C" kedge_status kg_aggregate_join_cuda(kedge_context *ctx, const kg_aggregate_args *args)
{
  KG_TRY(launch(ctx, args, join_roots_kernel, "aggregate_join_roots"));
  return launch(ctx, args, join_members_kernel, "aggregate_join_members");
}
