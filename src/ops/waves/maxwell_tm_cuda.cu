// maxwell_tm_cuda.cu: ops/waves/stage_cuda.cuh for ops/waves/maxwell_tm.h.
#include "ops/waves/maxwell_tm.h"

#include "ops/waves/laws.h"
#include "ops/waves/stage_cuda.cuh"

extern "C" kedge_status KG_REAL(kg_wave_maxwell_tm_cuda)(kedge_context *ctx,
                                                         const kg_wave_args *args)
{
  return launch_stage(ctx, args);
}
