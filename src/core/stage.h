/// @file
/// The stages of a solve, which reports, memory and NVTX ranges name.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

/// Stages in their order: X(identifier, name in the report). B1 to B6 are the steps of King 2014.
#define KG_STAGE_LIST(X)                           \
  X(MESH, "mesh")                                  \
  X(TRANSFER, "transfer")                          \
  X(LOCAL_MATRICES, "local_matrices") /* B1, B2 */ \
  X(ASSEMBLY, "assembly")             /* B3 */     \
  X(TRACE_SOLVE, "trace_solve")       /* B4 */     \
  X(LOCAL_SOLVE, "local_solve")       /* B5, B6 */ \
  X(POSTPROCESS, "postprocess")                    \
  X(OUTPUT, "output")
#define KG_STAGE_ENUMERATOR(identifier, name) KG_STAGE_##identifier,
typedef enum kg_stage { KG_STAGE_LIST(KG_STAGE_ENUMERATOR) KG_STAGE_COUNT } kg_stage;
#undef KG_STAGE_ENUMERATOR

/// The name of a stage in reports: "local_matrices".
static inline const char *kg_stage_name(kg_stage stage)
{
#define KG_STAGE_NAME(identifier, name) name,
  static const char *const names[] = {KG_STAGE_LIST(KG_STAGE_NAME)};
#undef KG_STAGE_NAME
  return (unsigned)stage < KG_STAGE_COUNT ? names[stage] : "unknown";
}

KEDGE_END_DECLS
