#include <stdlib.h>

#include "device/cuda_nvrtc.h"
#include "device/context.h"
#include "core/memory.h"
#include "ops/sample/at_points.h"
#include "ops/sample/cell_kernel.h"

enum {
  THREADS = 128,        // of a group (cell_kernel.cuh)
  POINT_THREADS = 128,  // of a block (point_kernel.cuh)
};

struct kg_cell_kernel {
  kg_kernel kernel;
  void *first_bad;  ///< in device memory: an index, or all ones
};

kedge_status kg_cell_kernel_create(kedge_context *ctx, int dimension, int n_functions,
                                   const kg_function *const *functions, kg_cell_kernel **out)
{
  *out = NULL;
  char *source = NULL;
  kg_cell_kernel *k;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *k, &k));
  kedge_status status = kg_cell_kernel_source(ctx, dimension, n_functions, functions, &source);
  if (status == KEDGE_OK) status = kg_kernel_make(ctx, source, "cell_values", &k->kernel);
  if (status == KEDGE_OK) status = kg_kernel_variable(ctx, &k->kernel, "first_bad", &k->first_bad);
  free(source);
  if (status == KEDGE_OK)
    *out = k;
  else
    kg_cell_kernel_free(k);
  return status;
}

void kg_cell_kernel_free(kg_cell_kernel *kernel)
{
  if (kernel == NULL) return;
  kg_kernel_free(&kernel->kernel);
  free(kernel);
}

/// All ones, which the variable has at first, are -1.
kedge_status kg_cell_kernel_run(kedge_context *ctx, const kg_cell_kernel *kernel,
                                const kg_cell_values_args *args, int64_t *bad)
{
  kg_cell_values_args a = *args;
  long long n_elements = a.n_elements;
  int elliptic = a.elliptic;
  void *arguments[] = {&a.vertices, &a.vertex, &a.nodes, &a.points.map, &a.region,
                       &a.t,        &a.values, &a.scale, &n_elements,   &a.points.n_nodes,
                       &a.points.n, &a.n_used, &elliptic};
  *bad = -1;
  if (n_elements == 0) return KEDGE_OK;
  KG_TRY(kg_kernel_launch(ctx, &kernel->kernel, "cell_values", (unsigned)kg_cell_values_groups(&a),
                          THREADS, arguments));
  return kg_copy_out(ctx, bad, kernel->first_bad, sizeof *bad);
}

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
                          (unsigned)((n + POINT_THREADS - 1) / POINT_THREADS), POINT_THREADS,
                          arguments);
}
