enum { KG_LAW_DIMENSION = 3 };
#define KG_LAW_SPACE 1
#include "ops/waves/acoustics.h"

#define KG_LAW_CUDA kg_wave_acoustics_space_cuda
#include "ops/waves/stage_host.h"

const kg_law kg_law_acoustics_space = KG_LAW_TABLE;
