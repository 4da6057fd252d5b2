#include "ops/waves/maxwell_tm.h"

#define KG_LAW_CUDA kg_wave_maxwell_tm_cuda
#include "ops/waves/stage_host.h"

const kg_law kg_law_maxwell_tm = KG_LAW_TABLE;
