/// @file
/// Conjugate gradients of many vectors (ops/pass.h), as kg_pcg_* (ops/vector/cg_vectors.h), but for
/// what saves passes: x moves in the pass that reads p anyway, and r in the first one of the
/// preconditioner (kg_advance), between two kernels of the scalars alone. And vectors one behind
/// the other to vectors side by side, and back.
#pragma once
#include "ops/vector/cg_state.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// Vectors are [free row][vector] and begin at multiples of 16 bytes. A vector that has stopped
/// stays as it is.
typedef struct kg_pcg_many_args {
  int64_t n;  ///< numbers of all vectors
  double *x, *p;
  const double *z;
  const float *z_single;  ///< z is here; NULL: it is in z
  kg_cg_states *states;
  kg_cg_step *steps;  ///< [vector][KG_CG_STEPS], of kg_cg_keep(); or NULL
} kg_pcg_many_args;

/// x += alpha p where x is a step behind, also after a stop. Stops where rz_next is not positive;
/// else beta = rz_next / rz, or 0; p = z + beta p; rz = rz_next.
KG_DECLARE_OPERATOR(kg_pcg_many_direction, kg_pcg_many_args);
/// Stops where p_ap is not positive. Else factor = -rz / p_ap. It reads the states alone.
KG_DECLARE_OPERATOR(kg_pcg_many_step, kg_pcg_many_args);
/// Keeps the step, rr = rr_next; counts the iteration, and stops at the target or at
/// max_iterations. It reads the states alone.
KG_DECLARE_OPERATOR(kg_pcg_many_count, kg_pcg_many_args);

/// What a direction does to a vector.
typedef struct kg_pcg_turn {
  double alpha, beta;
  bool lags, runs;  ///< x moves; p does
} kg_pcg_turn;

/// It judges r . z; who may note a stop does.
KG_INLINE kg_pcg_turn kg_pcg_turn_of(kg_cg_state *s, bool notes)
{
  int32_t stop = s->stop;
  if (stop == KG_CG_RUNNING) stop = kg_cg_judge(s->rz_next, KG_CG_PRECONDITIONER);
  const kg_pcg_turn turn = {-s->factor, s->rz == 0.0 ? 0.0 : s->rz_next / s->rz,
                            s->steps < s->iterations, stop == KG_CG_RUNNING};
  if (notes) s->stop = stop;
  return turn;
}

KG_INLINE void kg_pcg_turn_end(kg_cg_state *s, const kg_pcg_turn *turn)
{
  if (turn->runs) s->rz = s->rz_next;
  s->steps = s->iterations;
}

KG_INLINE void kg_pcg_find_step(kg_cg_state *s)
{
  if (s->stop == KG_CG_RUNNING) s->stop = kg_cg_judge(s->p_ap, KG_CG_INDEFINITE);
  s->factor = s->stop == KG_CG_RUNNING ? -s->rz / s->p_ap : 0.0;
}

KG_INLINE void kg_pcg_count_all(kg_cg_states *states, kg_cg_step *steps)
{
  states->stop = 1;
  for (int v = 0; v < KG_VECTORS; ++v) {
    kg_cg_state *const s = &states->of[v];
    if (s->stop == KG_CG_RUNNING) {
      kg_cg_keep(steps ? steps + v * KG_CG_STEPS : steps, s);
      kg_cg_count(s, s->rr_next, s->rz_next);
    }
    if (s->stop == KG_CG_RUNNING) states->stop = 0;
  }
}

typedef struct kg_interleave_args {
  int64_t n;   ///< rows
  bool apart;  ///< from [row][vector] to [vector][row], else back
  const double *from;
  double *to;
} kg_interleave_args;

KG_DECLARE_OPERATOR(kg_interleave, kg_interleave_args);

KEDGE_END_DECLS
