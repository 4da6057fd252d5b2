// acoustics_space_cuda.cu: ops/waves/stage_cuda.cuh for ops/waves/acoustics.h.
enum { KG_LAW_DIMENSION = 3 };
#include "ops/waves/acoustics.h"

#include "ops/waves/laws.h"
#include "ops/waves/stage_cuda.cuh"

extern "C" kedge_status KG_REAL(kg_wave_acoustics_space_cuda)(kedge_context *ctx,
                                                              const kg_wave_args *args)
{
  return launch_stage(ctx, args);
}
