#include <stdlib.h>

#include "backend/cuda_nvrtc.h"
#include "core/context.h"
#include "core/memory.h"
#include "ops/sample_kernel.h"

struct kg_sample_kernel {
  kg_kernel kernel;
  void *first_bad;  ///< in device memory: an index, or all ones
};

kedge_status kg_sample_kernel_create(kedge_context *ctx, kg_sample_points points, int n_functions,
                                     const kg_function *const *functions, kg_sample_kernel **out)
{
  *out = NULL;
  char *source = NULL;
  kg_sample_kernel *k;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *k, &k));
  kedge_status status = kg_sample_kernel_source(ctx, points, n_functions, functions, &source);
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

kedge_status kg_sample_kernel_run(kedge_context *ctx, const kg_sample_kernel *kernel,
                                  const kg_sample_kernel_args *args, int64_t *bad)
{
  *bad = -1;
  if (args->n_groups == 0) return KEDGE_OK;
  kg_sample_kernel_args a = *args;
  long long first_group = a.first_group;
  void *arguments[] = {&a.vertices, &a.vertex, &first_group, &a.values};
  KG_TRY(kg_kernel_launch(ctx, &kernel->kernel, "sample", (unsigned)a.n_groups,
                          32 * KG_SAMPLE_WARPS, arguments));
  // All ones, the value of the source, is -1 here.
  KG_TRY(kg_copy_out(ctx, bad, kernel->first_bad, sizeof *bad));
  return kg_sync(ctx);
}
