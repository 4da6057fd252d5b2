enum { KG_LAW_DIMENSION = 2 };
#include "ops/waves/acoustics.h"

#define KG_LAW_CUDA kg_wave_acoustics_plane_cuda
#include "ops/waves/stage_host.h"

const kg_law kg_law_acoustics_plane = KG_LAW_TABLE;
