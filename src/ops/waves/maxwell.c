#include "ops/waves/maxwell.h"

#define KG_LAW_CUDA kg_wave_maxwell_cuda
#include "ops/waves/stage_host.h"

const kg_law kg_law_maxwell = KG_LAW_TABLE;
