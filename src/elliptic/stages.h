/// @file
/// The stages of an elliptic solve, in their order. B1 to B6 are steps of King's algorithm (2014).
#pragma once
#include "method/method.h"

typedef enum kg_stage {
  KG_STAGE_MESH,
  KG_STAGE_TRANSFER,
  KG_STAGE_LOCAL_MATRICES,  ///< B1, B2
  KG_STAGE_ASSEMBLY,        ///< B3
  KG_STAGE_TRACE_SOLVE,     ///< B4
  KG_STAGE_LOCAL_SOLVE,     ///< B5, B6
  KG_STAGE_POSTPROCESS,
  KG_STAGE_OUTPUT,
  KG_STAGE_COUNT
} kg_stage;

extern const kg_method kg_elliptic_method;

/// The name of a stage in reports: "local_matrices".
static inline const char *kg_stage_name(kg_stage stage)
{
  return kg_elliptic_method.stage[stage].name;
}
