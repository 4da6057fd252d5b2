// tetrahedron_cuda.cu: local matrices, local solves and post-processing of tetrahedra
// (tetrahedron.h).
// Layout  arrays [group][row][lane]: neighbouring blocks have neighbouring lanes
// Map     a block is an element, with its matrices in shared memory: 104 KB at order 6, where
//         coefficients vary 181 KB. Warps take
//         rows, lanes the entries of a row (elimination.h).
// Cost    kg_tetrahedron_make_cost() and so on
#include "device/cuda_each.cuh"
#include "ops/local/tetrahedron/varying.h"

namespace
{

enum { THREADS = 128 };  // of a block

template <auto DO, class Args>
__global__ void __launch_bounds__(THREADS) element_kernel(const __grid_constant__ Args a)
{
  KG_SHARED(double2, s_element);
  const kg_team team = {(int)threadIdx.x, (double *)s_element, (int)blockDim.x, 1};
  DO(&a, (int32_t)blockIdx.x, team);
}

/// DO for n lanes. One warp has enough work where there are few modes.
template <auto DO, class Args>
kedge_status run(kedge_context *ctx, const char *name, int32_t n, size_t scratch, const Args &a)
{
  if (n == 0) return KEDGE_OK;
  const unsigned threads = a.cells.reference.size.order < 3 ? 32 : THREADS;
  return kg_launch_shared(ctx, name, (unsigned)n, threads, scratch * sizeof(double),
                          element_kernel<DO, Args>, a);
}

}  // namespace

extern "C" kedge_status kg_tetrahedron_make_cuda(kedge_context *ctx,
                                                 const kg_tetrahedron_make_args *a)
{
  if (a->materials.values)
    return run<kg_varying_make_lane>(ctx, "tetrahedron_make_varying",
                                     kg_tetrahedra_groups(&a->cells) * KG_LANES,
                                     kg_varying_make_scratch(a->cells.reference.size), *a);
  return run<kg_tetrahedron_make_lane>(ctx, "tetrahedron_make",
                                       kg_tetrahedra_groups(&a->cells) * KG_LANES,
                                       kg_tetrahedron_make_scratch(a->cells.reference.size), *a);
}

extern "C" kedge_status kg_tetrahedron_recover_cuda(kedge_context *ctx,
                                                    const kg_tetrahedron_recover_args *a)
{
  if (a->materials.values)
    return run<kg_varying_recover_element>(ctx, "tetrahedron_recover_varying", a->cells.n_elements,
                                           kg_varying_recover_scratch(a->cells.reference.size), *a);
  return run<kg_tetrahedron_recover_element>(
      ctx, "tetrahedron_recover", a->cells.n_elements,
      kg_tetrahedron_recover_scratch(a->cells.reference.size), *a);
}

extern "C" kedge_status kg_tetrahedron_postprocess_cuda(kedge_context *ctx,
                                                        const kg_tetrahedron_postprocess_args *a)
{
  if (a->materials.values)
    return run<kg_varying_postprocess_element>(
        ctx, "tetrahedron_postprocess_varying", a->cells.n_elements,
        kg_varying_postprocess_scratch(a->cells.reference.size), *a);
  return run<kg_tetrahedron_postprocess_element>(
      ctx, "tetrahedron_postprocess", a->cells.n_elements,
      kg_tetrahedron_postprocess_scratch(a->cells.reference.size), *a);
}

extern "C" kedge_status kg_tetrahedron_means_cuda(kedge_context *ctx,
                                                  const kg_tetrahedron_means_args *a)
{
  return kg_do_each<256, kg_tetrahedron_means_of>(ctx, "tetrahedron_means", a->cells.n_elements,
                                                  *a);
}
