/// @file
/// The vector passes of conjugate gradients with a preconditioner, of many vectors
/// (ops/vector/cg_vectors.h); and vectors one behind the other to vectors side by side, and back.
#pragma once
#include "ops/vector/cg_vectors.h"
KEDGE_BEGIN_DECLS

kedge_status kg_pcg_direction_many_host(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_pcg_direction_many_cuda(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_pcg_update_many_host(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_pcg_update_many_cuda(kedge_context *ctx, const kg_cg_vectors_args *args);

/// All vectors that have stopped.
KG_INLINE bool kg_cg_all_stopped(const kg_cg_states *states)
{
  for (int v = 0; v < KG_VECTORS; ++v)
    if (states->of[v].stop == KG_CG_RUNNING) return false;
  return true;
}

typedef struct kg_interleave_args {
  int64_t n;   ///< rows
  bool apart;  ///< from [row][vector] to [vector][row], else back
  const double *from;
  double *to;
} kg_interleave_args;

KG_DECLARE_OPERATOR(kg_interleave, kg_interleave_args);

KEDGE_END_DECLS
