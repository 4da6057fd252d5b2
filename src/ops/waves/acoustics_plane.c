enum { KG_LAW_DIMENSION = 2 };
#include "ops/waves/acoustics.h"

#include "ops/waves/laws.h"

#define KG_LAW_HOST KG_REAL(kg_wave_acoustics_plane_host)
#include "ops/waves/stage_host.h"

#ifndef KG_COMPILE_SINGLE
KG_OPERATOR_OF_NUMBERS(kg_wave_acoustics_plane, kg_wave_args, args->number)

extern const char kg_wave_acoustics_text[];
const kg_law kg_law_acoustics_plane = KG_LAW_TABLE(
    kg_wave_acoustics_plane, "enum { KG_LAW_DIMENSION = 2 };\n", kg_wave_acoustics_text);
#endif
