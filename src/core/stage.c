#include "core/stage.h"

#define NAME(identifier, name) [KEDGE_STAGE_##identifier] = name,
static const char *const names[KEDGE_STAGE_COUNT] = {KEDGE_STAGE_LIST(NAME)};

const char *kedge_stage_name(kedge_stage stage)
{
  return (unsigned)stage < KEDGE_STAGE_COUNT ? names[stage] : "unknown";
}
