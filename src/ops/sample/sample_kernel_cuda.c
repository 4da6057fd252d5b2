#include <stdlib.h>

#include "device/cuda_nvrtc.h"
#include "device/context.h"
#include "core/memory.h"
#include "ops/sample/sample_kernel.h"

enum { GROUPS = 4 };  // of a block, one a warp, where no warps share one (point_sums.cuh)

struct kg_sample_kernel {
  kg_kernel kernel;
  int order;
  void *first_bad;  ///< in device memory: an index, or all ones
};

kedge_status kg_sample_kernel_create(kedge_context *ctx, kg_sample_kind kind, kg_points points,
                                     const kg_function *const *functions, kg_sample_kernel **out)
{
  *out = NULL;
  char *source = NULL;
  kg_sample_kernel *k;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *k, &k));
  k->order = points.order;
  kedge_status status = kg_sample_kernel_source(ctx, kind, points, functions, &source);
  if (status == KEDGE_OK) status = kg_kernel_make(ctx, source, "sample", &k->kernel);
  if (status == KEDGE_OK) status = kg_kernel_variable(ctx, &k->kernel, "first_bad", &k->first_bad);
  free(source);
  if (status == KEDGE_OK)
    *out = k;
  else
    kg_sample_kernel_free(k);
  return status;
}

void kg_sample_kernel_free(kg_sample_kernel *kernel)
{
  if (kernel == NULL) return;
  kg_kernel_free(&kernel->kernel);
  free(kernel);
}

/// Blocks of `share` warps for a group.
static kedge_status launch(kedge_context *ctx, const kg_sample_kernel *kernel, long long n_groups,
                           int share, void **arguments)
{
  const int groups = share == 1 ? GROUPS : 1;
  if (n_groups == 0) return KEDGE_OK;
  return kg_kernel_launch(ctx, &kernel->kernel, "sample",
                          (unsigned)((n_groups + groups - 1) / groups),
                          (unsigned)(KG_LANES * share * groups), arguments);
}

kedge_status kg_sample_loads(kedge_context *ctx, const kg_sample_kernel *kernel,
                             const kg_load_vectors_args *args, const int32_t *region, double t)
{
  kg_load_vectors_args a = *args;
  long long first = a.first_group, n = a.n_groups, n_elements = a.batch.count.n_elements;
  void *arguments[] = {&a.batch.arrays.vertices,
                       &a.batch.arrays.vertex,
                       &region,
                       &first,
                       &n,
                       &n_elements,
                       &t,
                       &a.scale,
                       &a.load,
                       &a.rough,
                       &a.least};
  return launch(ctx, kernel, n, 1, arguments);
}

kedge_status kg_sample_errors(kedge_context *ctx, const kg_sample_kernel *kernel,
                              const kg_errors_args *args, const int32_t *region, double t)
{
  kg_errors_args a = *args;
  long long first = a.first_group, n = a.n_groups, n_elements = a.batch.count.n_elements;
  void *arguments[] = {&a.batch.arrays.vertices,
                       &a.batch.arrays.vertex,
                       &region,
                       &first,
                       &n,
                       &n_elements,
                       &t,
                       &a.u,
                       &a.q,
                       &a.u_star,
                       &a.by_group,
                       &a.flux_by_group,
                       &a.diffusion,
                       &a.material};
  return launch(ctx, kernel, n, kg_sample_shape_of(KG_SAMPLE_ERRORS, kernel->order).share,
                arguments);
}

/// All ones, which the variable has at first, are -1.
kedge_status kg_sample_bad(kedge_context *ctx, const kg_sample_kernel *kernel, int64_t *bad)
{
  return kg_copy_out(ctx, bad, kernel->first_bad, sizeof *bad);
}
