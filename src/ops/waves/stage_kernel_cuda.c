#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_nvrtc.h"
#include "ops/waves/stage_kernel.h"

struct kg_wave_kernel {
  kg_kernel kernel;
  kg_wave_tiling tiling;
};

kedge_status kg_wave_kernel_create(kedge_context *ctx, const kg_law *law, const kg_nodal *nodal,
                                   kg_number number, const kg_wave_tiling *tiling,
                                   kg_wave_kernel **out)
{
  char *source = NULL;
  kg_wave_kernel *k;
  *out = NULL;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *k, &k));
  k->tiling = *tiling;
  kedge_status status = kg_kernel_may_have(ctx, k->tiling.shared);
  if (status == KEDGE_OK)
    status = kg_wave_kernel_source(ctx, law, nodal, number, &k->tiling, &source);
  if (status == KEDGE_OK) status = kg_kernel_make(ctx, source, "wave_fused", &k->kernel);
  free(source);
  if (status == KEDGE_OK) status = kg_kernel_shared(ctx, &k->kernel, k->tiling.shared);
  if (status == KEDGE_OK)
    *out = k;
  else
    kg_wave_kernel_free(k);
  return status;
}

void kg_wave_kernel_free(kg_wave_kernel *kernel)
{
  if (kernel == NULL) return;
  kg_kernel_free(&kernel->kernel);
  free(kernel);
}

int kg_wave_kernel_block(const kg_wave_kernel *kernel)
{
  return kernel->tiling.straight ? kernel->tiling.elements : 0;
}

kedge_status kg_wave_kernel_run(kedge_context *ctx, const kg_wave_kernel *kernel,
                                const kg_wave_args *args)
{
  kg_wave_args a = *args;
  void *arguments[] = {&a};
  const int32_t blocks = a.n_groups / (kernel->tiling.elements / KG_WAVE_LANES);
  return kg_kernel_launch(ctx, &kernel->kernel, "wave_fused", (unsigned)blocks,
                          (unsigned)kernel->tiling.threads, arguments);
}
