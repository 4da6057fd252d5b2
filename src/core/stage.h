/// @file
/// The stages of a solve, which reports, memory and NVTX ranges name.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

/// Stages in their order: X(identifier, name in the report). B1 to B6 are the steps of King 2014.
#define KEDGE_STAGE_LIST(X)                        \
  X(MESH, "mesh")                                  \
  X(TRANSFER, "transfer")                          \
  X(LOCAL_MATRICES, "local_matrices") /* B1, B2 */ \
  X(ASSEMBLY, "assembly")             /* B3 */     \
  X(TRACE_SOLVE, "trace_solve")       /* B4 */     \
  X(LOCAL_SOLVE, "local_solve")       /* B5, B6 */ \
  X(POSTPROCESS, "postprocess")                    \
  X(OUTPUT, "output")
#define KEDGE_STAGE_ENUMERATOR(identifier, name) KEDGE_STAGE_##identifier,
typedef enum kedge_stage { KEDGE_STAGE_LIST(KEDGE_STAGE_ENUMERATOR) KEDGE_STAGE_COUNT } kedge_stage;
#undef KEDGE_STAGE_ENUMERATOR

/// The name of a stage in reports: "local_matrices".
const char *kedge_stage_name(kedge_stage stage);

KEDGE_END_DECLS
