/// @file
/// The systems that there are, and their stages in both types of numbers.
#pragma once
#include "ops/waves/stage.h"
KEDGE_BEGIN_DECLS

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_wave_maxwell, kg_wave_args);
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_wave_maxwell_tm, kg_wave_args);
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_wave_acoustics_plane, kg_wave_args);
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_wave_acoustics_space, kg_wave_args);

extern const kg_law kg_law_maxwell, kg_law_maxwell_tm, kg_law_acoustics_plane,
    kg_law_acoustics_space;
/// All of them; ends with NULL.
extern const kg_law *const kg_laws[];

KEDGE_END_DECLS
