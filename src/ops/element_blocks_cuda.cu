// element_blocks_cuda.cu: A_e^-1 / 2 of every element (element_blocks.h).
// Layout  local and inverse [group][n (n+1) / 2][lane]
// Map     thread = element; its block is a column of shared memory, [entry][thread], which neither
//         order nor the number of threads fills with conflicts. As many warps a block as fit, four
//         at most. Warps read and write whole lines of K^e; what the elements beyond the edges add
//         they read from near them.
// Cost    kg_element_blocks_cost(), once a solve
#include "backend/cuda_rt.h"
#include "ops/element_blocks.h"
#include "ops/real.h"

namespace
{

__global__ void element_blocks_kernel(const kg_element_blocks_args a)
{
  extern __shared__ double s_block[];
  const int32_t e = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x), stride = (int32_t)blockDim.x;
  if (e >= a.batch.count.n_groups * KG_LANES) return;
  const bool exists = e < a.batch.count.n_elements;
  double *block = s_block + threadIdx.x;
  if (exists && !kg_element_block(&a, e, block, stride)) atomicMin(a.fault, e);
  kg_real *out = (kg_real *)a.inverse + kg_element_block_at(&a.batch.reference.size, e);
  for (int i = 0; i < a.batch.reference.size.n_packed; ++i)
    out[(int64_t)i * KG_LANES] = (kg_real)(exists ? -block[i * stride] : 0.0);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_element_blocks_cuda)(kedge_context *ctx,
                                                        const kg_element_blocks_args *a)
{
  const size_t warp = 32 * sizeof(double) * (size_t)a->batch.reference.size.n_packed;
  const size_t limit = (size_t)kg_cuda(ctx)->shared_limit;
  KG_REQUIRE(ctx, warp <= limit, KEDGE_ERR_UNSUPPORTED,
             "smoother = element needs %zu bytes of shared memory a block at order %d and this GPU "
             "has %zu: take a lower order or smoother = edge",
             warp, a->batch.reference.size.order, limit);
  size_t warps = limit / warp;
  if (warps > 4) warps = 4;
  KG_TRY(kg_cuda_ask_for_shared(ctx, (const void *)element_blocks_kernel, limit, "element_blocks"));
  const unsigned threads = 32u * (unsigned)warps;
  const unsigned blocks = ((unsigned)a->batch.count.n_groups * KG_LANES + threads - 1) / threads;
  element_blocks_kernel<<<blocks, threads, warp * warps, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "element_blocks");
}
