#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_nvrtc.h"
#include "ops/sample/at_points.h"

enum { THREADS = 128 };  // of a block (point_kernel.cuh)

struct kg_point_kernel {
  kg_kernel kernel;
};

kedge_status kg_point_kernel_create(kedge_context *ctx, int n_functions,
                                    const kg_function *const *functions, kg_point_kernel **out)
{
  *out = NULL;
  char *source = NULL;
  kg_point_kernel *k;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *k, &k));
  kedge_status status = kg_point_kernel_source(ctx, n_functions, functions, &source);
  if (status == KEDGE_OK) status = kg_kernel_make(ctx, source, "point_values", &k->kernel);
  free(source);
  if (status == KEDGE_OK)
    *out = k;
  else
    kg_point_kernel_free(k);
  return status;
}

void kg_point_kernel_free(kg_point_kernel *kernel)
{
  if (kernel == NULL) return;
  kg_kernel_free(&kernel->kernel);
  free(kernel);
}

kedge_status kg_point_kernel_run(kedge_context *ctx, const kg_point_kernel *kernel,
                                 const kg_at_points_args *args)
{
  kg_at_points_args a = *args;
  long long n = a.n;
  double *wide = a.number == KG_DOUBLE ? a.values : NULL;
  float *narrow = a.number == KG_SINGLE ? a.values : NULL;
  void *arguments[] = {&a.x, &a.region, &a.t, &n, &wide, &narrow, &a.bad, &a.piece};
  return kg_kernel_launch(ctx, &kernel->kernel, "point_values",
                          (unsigned)((n + THREADS - 1) / THREADS), THREADS, arguments);
}
