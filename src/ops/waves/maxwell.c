#include "ops/waves/maxwell.h"

#include "ops/waves/laws.h"

#define KG_LAW_HOST KG_REAL(kg_wave_maxwell_host)
#include "ops/waves/stage_host.h"

#ifndef KG_COMPILE_SINGLE
KG_OPERATOR_OF_NUMBERS(kg_wave_maxwell, kg_wave_args, args->number)

extern const char kg_wave_maxwell_media_text[], kg_wave_maxwell_text[];
const kg_law kg_law_maxwell =
    KG_LAW_TABLE(kg_wave_maxwell, kg_wave_maxwell_media_text, kg_wave_maxwell_text);
#endif
