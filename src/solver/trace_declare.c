// The arrays that assembly and the trace solve begin with.
#include "ops/ell.h"
#include "ops/trace_gather.h"
#include "solver/declare.h"

static const unsigned solve = KG_FROM(BOUND, UPDATE), kept = KG_FROM(ASSEMBLY, UPDATE);

static void declare_patches(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const size_t halo = kg_shape_halo_count(s), n_patches = (size_t)s->count.n_patches;
  kg_plan_array(plan, "halo", halo, sizeof *a->halo, solve, &a->halo);
  kg_plan_array(plan, "parts of p . A p", n_patches, sizeof *a->operator_part, solve,
                &a->operator_part);
  kg_plan_array(plan, "one kernel", s->resident_bytes, 1, solve, &a->resident);
}

static void declare_gather(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_local full = kg_shape_full_locals(s).local[0];
  const size_t parts = (size_t)kg_trace_gather_partials(s->size, &s->count);
  kg_plan_array(plan, "full K^e", kg_local_bytes(&full), 1, kept, &a->full_local);
  kg_plan_array(plan, "parts of p . A p", parts, sizeof *a->operator_part, solve,
                &a->operator_part);
}

static void declare_ell(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_ell_matrix matrix = kg_ell_shape(s->size, &s->count);
  const size_t n = (size_t)matrix.width * (size_t)matrix.stride;
  kg_plan_array(plan, "ELL columns", n, sizeof *a->ell_column, kept, &a->ell_column);
  kg_plan_array(plan, "ELL values", n, sizeof *a->ell_value, kept, &a->ell_value);
  kg_plan_array(plan, "ELL work", s->ell_work_bytes, 1, KG_IN(ASSEMBLY), &a->ell_work);
  kg_plan_array(plan, "parts of p . A p", KG_PIECES, sizeof *a->operator_part, solve,
                &a->operator_part);
}

static void declare_multigrid(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_multigrid_shape shape = kg_shape_multigrid(s);
  const size_t vectors = kg_shape_lends_vector(s) ? 0 : kg_multigrid_vector_bytes(&shape, &kg_amg);
  kg_plan_array(plan, "smoother", kg_multigrid_trace_bytes(&shape), 1, kept, &a->multigrid_trace);
  kg_plan_array(plan, "coarse space", kg_multigrid_space_bytes(&shape), 1, kept,
                &a->multigrid_space);
  kg_plan_array(plan, "coarse levels", (size_t)kg_shape_coarse(s).kept, 1, kept,
                &a->multigrid_coarse);
  kg_plan_array(plan, "coarse vectors", vectors, 1, solve, &a->multigrid_vectors);
  kg_plan_array(plan, "multigrid work", s->multigrid_work_bytes, 1, KG_IN(ASSEMBLY),
                &a->multigrid_work);
}

/// With precision = compact p, and z behind it, lie where a residual does, r and A p in the chunk.
static void declare_vectors(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const bool single = s->choice.iterates == KG_SINGLE, multigrid = s->choice.precond != KG_JACOBI;
  const size_t m = (size_t)s->size.n_edge, n_free = (size_t)s->count.n_free * m;
  const size_t n = (size_t)s->count.n_edges * m, d = sizeof(double);
  const size_t z = s->choice.cycles == KG_SINGLE ? 0 : multigrid ? n : n_free;
  kg_plan_array(plan, "x", n, d, KG_FROM(BOUND, RECOVER), &a->x);
  kg_plan_array(plan, "r", multigrid && !single ? n_free : 0, d, solve, &a->r);
  kg_plan_array(plan, "z", z, d, solve, &a->z);
  kg_plan_array(plan, "p", single ? 2 * kg_rounded(n * sizeof(float)) : n * d, 1, solve, &a->p);
  kg_plan_array(plan, "A p", single ? 0 : n_free, d, solve, &a->ap);
  kg_plan_array(plan, "parts of vectors", 2 * KG_PIECES, d, solve, &a->vector_part);
  kg_plan_array(plan, "state", 1, sizeof *a->state, solve, &a->state);
  kg_plan_array(plan, "exponent", 1, sizeof *a->exponent, solve, &a->exponent);
}

void kg_trace_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  static void (*const operators[])(kg_plan *, const kg_shape *, kg_arrays *) = {
      [KEDGE_OPERATOR_MATRIX_FREE] = declare_patches,
      [KEDGE_OPERATOR_MATRIX_FREE_PLAIN] = declare_gather,
      [KEDGE_OPERATOR_ELL] = declare_ell};
  operators[s->choice.linear](plan, s, a);
  if (s->choice.precond != KG_JACOBI) declare_multigrid(plan, s, a);
  declare_vectors(plan, s, a);
}
